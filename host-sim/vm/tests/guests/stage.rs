//! One listener with one filter, written as text.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use host_sim_host::abi::watch::{Watcher, watched};
use host_sim_host::config::{
    Bootstrap, Cluster, ClusterChoice, EscapedSlashes, FailurePolicy, Forward, Http1,
    HttpConnectionManager, Listener, LoadBalancing, Node, PathMatch, Plugin, RetryPolicy, Route,
    RouteAction, Router, UnderscoreHeaders, VirtualHost, VmConfig,
};
use host_sim_host::io::{Command, Event, Headers, Now, StreamId, UpstreamId};
use host_sim_host::{Process, StartError, VmFactory, Worker};
use host_sim_vm::{Bounds, Modules};

/// What every guest needs: the ABI's mark, memory, and an allocator that only goes up.
const PRELUDE: &str = r#"
  (memory (export "memory") 1)
  (global $free (mut i32) (i32.const 4096))
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "malloc") (param $size i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $free))
    (global.set $free (i32.add (global.get $free) (local.get $size)))
    (local.get $at))
"#;

/// Bounds that a test reaches quickly.
pub const SMALL: Bounds = Bounds {
    memory_bytes: 1 << 20,
    fuel_per_call: 1_000_000,
};

/// A module: imports, then the prelude, then the rest.
pub fn module(imports: &str, rest: &str) -> String {
    format!("(module {imports} {PRELUDE} {rest})")
}

fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

fn config(code_path: &Path) -> Bootstrap {
    let plugin = Plugin {
        name: "guest".to_owned(),
        root_id: String::new(),
        configuration: b"plugin configuration".to_vec(),
        allow_on_headers_stop_iteration: true,
        failure_policy: FailurePolicy::Closed,
        vm: VmConfig {
            vm_id: "test".to_owned(),
            configuration: Vec::new(),
            code_path: code_path.to_str().unwrap().to_owned(),
            env: BTreeMap::from([("NAME".to_owned(), "value".to_owned())]),
            host_env_keys: Vec::new(),
            allowed_capabilities: BTreeSet::new(),
        },
    };
    let forward = Forward {
        cluster: ClusterChoice::Named("workers".to_owned()),
        timeout: None,
        idle_timeout: None,
        retry: RetryPolicy::default(),
    };
    let route = Route {
        name: None,
        path: PathMatch::Prefix("/".to_owned()),
        headers: Vec::new(),
        request_body_buffer_limit: None,
        action: RouteAction::Forward(forward),
    };
    let http = HttpConnectionManager {
        stat_prefix: String::new(),
        use_remote_address: true,
        stream_idle_timeout: None,
        delayed_close_timeout: Duration::from_secs(1),
        normalize_path: true,
        merge_slashes: true,
        path_with_escaped_slashes_action: EscapedSlashes::Keep,
        headers_with_underscores_action: UnderscoreHeaders::Allow,
        always_set_request_id_in_response: false,
        http1: Http1::CLIENTS,
        http2_initial_stream_window_size: None,
        access_log: Vec::new(),
        local_reply_mappers: Vec::new(),
        virtual_hosts: vec![VirtualHost {
            name: "v".to_owned(),
            domains: vec!["*".to_owned()],
            request_body_buffer_limit: None,
            routes: vec![route],
        }],
        filters: vec![Arc::new(plugin)],
        router: Router::default(),
    };
    let cluster = Cluster {
        name: "workers".to_owned(),
        connect_timeout: Duration::from_secs(1),
        endpoints: vec![address(1)],
        http2: None,
        load_balancing: LoadBalancing::RoundRobin,
        max_retries: 3,
        max_requests: 1024,
        http1: Http1::WORKERS,
        max_pending_requests: 1024,
        max_connections: 1024,
        upstream_filters: Vec::new(),
    };
    Bootstrap {
        admin: None,
        listeners: vec![Listener {
            name: "public".to_owned(),
            address: address(10000),
            metadata: BTreeMap::new(),
            buffer_limit_bytes: 1 << 20,
            http,
        }],
        clusters: BTreeMap::from([("workers".to_owned(), cluster)]),
        stats_tags: Vec::new(),
        node: Node::default(),
    }
}

const NOW: Now = Now {
    monotonic: Duration::ZERO,
    wall: Duration::from_secs(1),
};

/// A worker with that guest.
pub struct Stage {
    worker: Worker,
    pub commands: Vec<Command>,
}

/// Starts a worker with a guest from its text.
pub fn start(text: &str) -> Result<Stage, StartError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("guest.wat");
    std::fs::write(&path, text).unwrap();
    start_with(&Arc::new(Modules::with_bounds(None, SMALL).unwrap()), &path)
}

/// The same, watched.
pub fn start_watched(text: &str, watcher: Arc<dyn Watcher>) -> Result<Stage, StartError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("guest.wat");
    std::fs::write(&path, text).unwrap();
    let modules = Arc::new(Modules::with_bounds(None, SMALL).unwrap());
    start_guests(watched(modules, watcher), &path)
}

/// Starts a worker with the module at a path.
pub fn start_with(modules: &Arc<Modules>, path: &Path) -> Result<Stage, StartError> {
    start_guests(Arc::clone(modules) as Arc<dyn VmFactory>, path)
}

fn start_guests(guests: Arc<dyn VmFactory>, path: &Path) -> Result<Stage, StartError> {
    let process = Process::new(config(path), BTreeMap::new(), 1);
    let mut worker = Worker::start(process, 0, guests, NOW)?;
    let commands = worker.take_commands();
    Ok(Stage { worker, commands })
}

impl Stage {
    /// A request with these additional lines; gives its head as the worker sees it, if it got there.
    pub fn request(&mut self, id: u64, extra: &[(&str, &str)]) -> Option<Headers> {
        let lines = [
            (":method", "GET"),
            (":path", "/"),
            (":authority", "gateway"),
        ];
        let lines = lines.iter().chain(extra);
        let headers = lines
            .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()))
            .collect();
        let peer = address(50000);
        let event = Event::RequestHeaders {
            stream: StreamId(id),
            listener: 0,
            peer,
            connection: None,
            headers,
            end_stream: true,
        };
        self.worker.handle(NOW, event);
        self.worker.handle(
            NOW,
            Event::UpstreamConnected {
                upstream: UpstreamId(id),
            },
        );
        self.commands.extend(self.worker.take_commands());
        self.commands.iter().find_map(|command| match command {
            Command::SendUpstreamHeaders {
                upstream, headers, ..
            } if upstream.0 == id => Some(headers.clone()),
            _ => None,
        })
    }

    /// Status of the answer to a request.
    pub fn status(&self, id: u64) -> Option<String> {
        self.commands.iter().find_map(|command| match command {
            Command::SendHeaders {
                stream, headers, ..
            } if stream.0 == id => Some(String::from_utf8(headers[0].1.clone()).unwrap()),
            _ => None,
        })
    }

    pub fn log_has(&self, part: &str) -> bool {
        self.commands
            .iter()
            .any(|command| matches!(command, Command::Log { text, .. } if text.contains(part)))
    }
}

/// First value of a header.
pub fn value(headers: &Headers, name: &str) -> Option<String> {
    let found = headers.iter().find(|(key, _)| key == name.as_bytes());
    found.map(|(_, value)| String::from_utf8(value.clone()).unwrap())
}
