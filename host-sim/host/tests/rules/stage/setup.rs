//! A configuration in few words.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_sim_host::abi::watch::{Watcher, watched};
use host_sim_host::config::{
    AccessLog, Bootstrap, Cluster, ClusterChoice, EscapedSlashes, FailurePolicy, Forward, Http1,
    HttpConnectionManager, JsonFormat, Listener, LoadBalancing, Node, PathMatch, Plain, Plugin,
    RetryPolicy, Route, RouteAction, Router, UnderscoreHeaders, VirtualHost, VmConfig,
};
use host_sim_host::io::Now;
use host_sim_host::{Process, VmFactory, Worker};

use super::Stage;
use super::guests::{Factory, Script};

/// How a stage is set up.
pub struct Setup {
    pub config: Bootstrap,
    pub(super) scripts: BTreeMap<String, Script>,
    watcher: Option<Arc<dyn Watcher>>,
    main: bool,
}

pub fn plugin(name: &str) -> Plugin {
    Plugin {
        name: name.to_owned(),
        root_id: String::new(),
        configuration: Vec::new(),
        allow_on_headers_stop_iteration: true,
        failure_policy: FailurePolicy::Closed,
        vm: VmConfig {
            vm_id: "test".to_owned(),
            configuration: Vec::new(),
            code_path: name.to_owned(),
            env: BTreeMap::new(),
            host_env_keys: Vec::new(),
            allowed_capabilities: BTreeSet::new(),
        },
    }
}

pub fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

pub fn cluster(name: &str, ports: &[u16]) -> Cluster {
    Cluster {
        name: name.to_owned(),
        connect_timeout: Duration::from_secs(5),
        endpoints: ports.iter().map(|port| address(*port)).collect(),
        http2: None,
        load_balancing: LoadBalancing::RoundRobin,
        max_retries: 1000,
        max_requests: 1024,
        http1: Http1::WORKERS,
        max_pending_requests: 1024,
        max_connections: 1024,
        upstream_filters: Vec::new(),
    }
}

pub fn text(format: &str) -> JsonFormat {
    JsonFormat::Text(format.to_owned())
}

pub fn log(fields: &[(&str, &str)]) -> AccessLog {
    let fields = fields
        .iter()
        .map(|(name, format)| ((*name).to_owned(), text(format)))
        .collect();
    AccessLog {
        path: "log".to_owned(),
        filter: None,
        omit_empty_values: false,
        format: JsonFormat::Object(fields),
    }
}

impl Setup {
    /// Downstream filters in order; one cluster `workers` with members at ports 1, 2 and 3; everything
    /// is routed there.
    pub fn new(filters: &[(&str, Script)]) -> Self {
        let forward = Forward {
            cluster: ClusterChoice::Named("workers".to_owned()),
            timeout: None,
            idle_timeout: None,
            retry: RetryPolicy::default(),
        };
        let route = Route {
            name: Some("all".to_owned()),
            path: PathMatch::Prefix("/".to_owned()),
            headers: Vec::new(),
            request_body_buffer_limit: None,
            action: RouteAction::Forward(forward),
        };
        let http = HttpConnectionManager {
            stat_prefix: "test".to_owned(),
            use_remote_address: true,
            stream_idle_timeout: None,
            delayed_close_timeout: Duration::from_secs(1),
            normalize_path: true,
            merge_slashes: true,
            path_with_escaped_slashes_action: EscapedSlashes::Reject,
            headers_with_underscores_action: UnderscoreHeaders::Reject,
            always_set_request_id_in_response: false,
            http1: Http1::CLIENTS,
            http2_initial_stream_window_size: None,
            access_log: vec![log(&[
                ("code", "%RESPONSE_CODE%"),
                ("details", "%RESPONSE_CODE_DETAILS%"),
                ("flags", "%RESPONSE_FLAGS%"),
            ])],
            local_reply_mappers: Vec::new(),
            virtual_hosts: vec![VirtualHost {
                name: "v".to_owned(),
                domains: vec!["*".to_owned()],
                request_body_buffer_limit: None,
                routes: vec![route],
            }],
            filters: filters
                .iter()
                .map(|(name, _)| Arc::new(plugin(name)))
                .collect(),
            router: Router {
                suppress_envoy_headers: true,
                upstream_log: Vec::new(),
            },
        };
        let listener = Listener {
            name: "public".to_owned(),
            address: address(10000),
            metadata: BTreeMap::from([(
                "dragoman".to_owned(),
                BTreeMap::from([("role".to_owned(), Plain::Text("public".to_owned()))]),
            )]),
            buffer_limit_bytes: 1024,
            http,
        };
        let config = Bootstrap {
            admin: None,
            listeners: vec![listener],
            clusters: BTreeMap::from([("workers".to_owned(), cluster("workers", &[1, 2, 3]))]),
            stats_tags: Vec::new(),
            node: Node::default(),
        };
        let scripts = filters
            .iter()
            .map(|(name, script)| ((*name).to_owned(), Arc::clone(script)))
            .collect();
        Setup {
            config,
            scripts,
            watcher: None,
            main: false,
        }
    }

    /// Is shown all that goes on between host and guests.
    pub fn watcher(mut self, watcher: Arc<dyn Watcher>) -> Self {
        self.watcher = Some(watcher);
        self
    }

    /// Adds a cluster.
    pub fn cluster(mut self, cluster: Cluster) -> Self {
        self.config.clusters.insert(cluster.name.clone(), cluster);
        self
    }

    /// An upstream filter for a cluster.
    pub fn attempt(mut self, cluster: &str, name: &str, script: Script) -> Self {
        self.scripts.insert(name.to_owned(), script);
        let filters = &mut self
            .config
            .clusters
            .get_mut(cluster)
            .unwrap()
            .upstream_filters;
        filters.push(Arc::new(plugin(name)));
        self
    }

    pub fn http(&mut self) -> &mut HttpConnectionManager {
        &mut self.config.listeners[0].http
    }

    pub fn forward(&mut self) -> &mut Forward {
        match &mut self.http().virtual_hosts[0].routes[0].action {
            RouteAction::Forward(forward) => forward,
            RouteAction::Direct { .. } => panic!("the route answers by itself"),
        }
    }

    /// Another guest in the place of a filter's.
    pub fn replace(mut self, name: &str, script: Script) -> Self {
        self.scripts.insert(name.to_owned(), script);
        self
    }

    /// Changes a downstream filter's plugin.
    pub fn plugin(mut self, index: usize, change: impl FnOnce(&mut Plugin)) -> Self {
        let mut plugin = (*self.http().filters[index]).clone();
        change(&mut plugin);
        self.http().filters[index] = Arc::new(plugin);
        self
    }

    /// Retries with these conditions and this number.
    pub fn retry(mut self, on: &str, retries: u32) -> Self {
        self.forward().retry = RetryPolicy {
            retry_on: on.to_owned(),
            num_retries: Some(retries),
            ..RetryPolicy::default()
        };
        self
    }

    /// With the guests of the main thread, which start before; the journal has their callbacks too, from the start on.
    pub fn main_thread(mut self) -> Self {
        self.main = true;
        self
    }

    pub fn start(self) -> Stage {
        let journal = Arc::new(Mutex::new(Vec::new()));
        let factory = Arc::new(Factory {
            scripts: Mutex::new(self.scripts),
            builds: Mutex::default(),
            journal: Arc::clone(&journal),
        });
        let guests: Arc<dyn VmFactory> = match self.watcher {
            Some(watcher) => watched(factory.clone(), watcher),
            None => factory.clone(),
        };
        let process = Process::new(self.config, BTreeMap::new(), 1);
        let now = Now {
            monotonic: Duration::ZERO,
            wall: Duration::from_secs(1_700_000_000),
        };
        let main = self.main.then(|| {
            let guests = Arc::clone(&guests);
            Worker::start_main(process.clone(), 1, guests, now).unwrap()
        });
        let worker = Worker::start(process.clone(), 0, guests, now).unwrap();
        if main.is_none() {
            journal.lock().unwrap().clear();
        }
        Stage {
            process,
            factory,
            worker,
            main,
            now,
            journal,
            commands: Vec::new(),
        }
    }
}
