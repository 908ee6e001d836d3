//! A worker with scripted guests, a clock that is moved by hand, and a journal of all callbacks.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_sim_host::abi::{Call, HostCalls, LoadError, Trap, Vm, VmFactory};
use host_sim_host::config::{
    AccessLog, Bootstrap, Cluster, ClusterChoice, EscapedSlashes, FailurePolicy, Forward,
    HttpConnectionManager, JsonFormat, Listener, LoadBalancing, PathMatch, Plugin, RetryPolicy,
    Route, RouteAction, Router, UnderscoreHeaders, VirtualHost, VmConfig,
};
use host_sim_host::io::{Command, Event, Headers, Now, ResetReason, StreamId, UpstreamId};
use host_sim_host::{Process, Worker};

/// What a guest does in a callback: `None` is the default answer.
pub type Script = Arc<dyn Fn(&mut dyn HostCalls, &Call) -> Result<Option<u32>, Trap> + Send + Sync>;

/// Pause.
pub const PAUSE: u32 = 1;

/// A guest that lets everything pass.
pub fn passes() -> Script {
    Arc::new(|_, _| Ok(None))
}

/// A guest from a closure that cannot trap.
pub fn guest(
    script: impl Fn(&mut dyn HostCalls, &Call) -> Option<u32> + Send + Sync + 'static,
) -> Script {
    Arc::new(move |host, call| Ok(script(host, call)))
}

/// A guest that panics in the callbacks that the test picks, while the switch is on.
pub fn panics(switch: &Arc<AtomicBool>, picks: fn(&Call) -> bool) -> Script {
    let switch = Arc::clone(switch);
    Arc::new(move |_, call| {
        if switch.load(Ordering::Relaxed) && picks(call) {
            Err(Trap("panic".to_owned()))
        } else {
            Ok(None)
        }
    })
}

struct Fake {
    name: String,
    script: Script,
    journal: Arc<Mutex<Vec<String>>>,
}

impl Vm for Fake {
    fn start(&mut self, _host: &mut dyn HostCalls) -> Result<(), Trap> {
        Ok(())
    }

    fn call(&mut self, host: &mut dyn HostCalls, call: &Call) -> Result<u32, Trap> {
        let word = call.export().trim_start_matches("proxy_on_");
        let line = match call {
            Call::RequestBody {
                size,
                end_of_stream,
                ..
            }
            | Call::ResponseBody {
                size,
                end_of_stream,
                ..
            } => {
                format!(
                    "{} {word} {size}{}",
                    self.name,
                    if *end_of_stream { " end" } else { "" }
                )
            }
            _ => format!("{} {word}", self.name),
        };
        self.journal.lock().unwrap().push(line);
        Ok((self.script)(host, call)?.unwrap_or(call.default_answer()))
    }
}

struct Factory {
    scripts: BTreeMap<String, Script>,
    journal: Arc<Mutex<Vec<String>>>,
}

impl VmFactory for Factory {
    fn instantiate(&self, vm: &VmConfig) -> Result<Box<dyn Vm>, LoadError> {
        Ok(Box::new(Fake {
            name: vm.code_path.clone(),
            script: Arc::clone(&self.scripts[&vm.code_path]),
            journal: Arc::clone(&self.journal),
        }))
    }
}

/// How a stage is set up.
pub struct Setup {
    pub config: Bootstrap,
    scripts: BTreeMap<String, Script>,
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
        load_balancing: LoadBalancing::RoundRobin,
        max_retries: 1000,
        max_requests: 1024,
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
                BTreeMap::from([("role".to_owned(), "public".to_owned())]),
            )]),
            buffer_limit_bytes: 1024,
            http,
        };
        let config = Bootstrap {
            admin: None,
            listeners: vec![listener],
            clusters: BTreeMap::from([("workers".to_owned(), cluster("workers", &[1, 2, 3]))]),
            stats_tags: Vec::new(),
        };
        let scripts = filters
            .iter()
            .map(|(name, script)| ((*name).to_owned(), Arc::clone(script)))
            .collect();
        Setup { config, scripts }
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

    pub fn start(self) -> Stage {
        let journal = Arc::new(Mutex::new(Vec::new()));
        let factory = Arc::new(Factory {
            scripts: self.scripts,
            journal: Arc::clone(&journal),
        });
        let process = Process::new(self.config, BTreeMap::new(), 1);
        let now = Now {
            monotonic: Duration::ZERO,
            wall: Duration::from_secs(1_700_000_000),
        };
        let worker = Worker::start(process, 0, factory, now).unwrap();
        journal.lock().unwrap().clear();
        Stage {
            worker,
            now,
            journal,
            commands: Vec::new(),
        }
    }
}

/// A worker at work.
pub struct Stage {
    pub worker: Worker,
    pub now: Now,
    journal: Arc<Mutex<Vec<String>>>,
    /// All commands so far.
    pub commands: Vec<Command>,
}

/// What a client has got.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    pub headers: Headers,
    pub body: String,
    pub complete: bool,
    pub broken: bool,
}

pub fn lines(lines: &[(&str, &str)]) -> Headers {
    lines
        .iter()
        .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()))
        .collect()
}

/// First value of a header.
pub fn value<'a>(headers: &'a Headers, name: &str) -> Option<&'a str> {
    let found = headers.iter().find(|(key, _)| key == name.as_bytes());
    found.map(|(_, value)| std::str::from_utf8(value).unwrap())
}

impl Stage {
    fn handle(&mut self, event: Event) {
        self.worker.handle(self.now, event);
        self.commands.extend(self.worker.take_commands());
    }

    /// Moves the clock, firing what is due on the way.
    pub fn wait(&mut self, milliseconds: u64) {
        let end = self.now.monotonic + Duration::from_millis(milliseconds);
        loop {
            let due = self.worker.next_timer().filter(|due| *due <= end);
            let step = due.unwrap_or(end).saturating_sub(self.now.monotonic);
            self.now.monotonic += step;
            self.now.wall += step;
            self.worker.advance(self.now);
            self.commands.extend(self.worker.take_commands());
            if due.is_none() {
                break;
            }
        }
    }

    /// The head of a request with these additional lines.
    pub fn request(&mut self, id: u64, extra: &[(&str, &str)], end_stream: bool) {
        let method = if end_stream { "GET" } else { "POST" };
        let mut headers = lines(&[
            (":method", method),
            (":path", "/"),
            (":scheme", "http"),
            (":authority", "gateway"),
        ]);
        headers.retain(|(name, _)| extra.iter().all(|(other, _)| other.as_bytes() != name));
        headers.splice(0..0, lines(extra));
        if extra.iter().any(|(name, _)| *name == "x-no-host") {
            headers.retain(|(name, _)| name != b":authority");
        }
        let peer = address(50000);
        self.handle(Event::RequestHeaders {
            stream: StreamId(id),
            listener: 0,
            peer,
            headers,
            end_stream,
        });
    }

    pub fn get(&mut self, id: u64) {
        self.request(id, &[], true);
    }

    pub fn data(&mut self, id: u64, data: &str, end_stream: bool) {
        self.handle(Event::RequestData {
            stream: StreamId(id),
            data: data.into(),
            end_stream,
        });
    }

    pub fn post(&mut self, id: u64, body: &str) {
        self.request(id, &[], false);
        self.data(id, body, true);
    }

    pub fn leave(&mut self, id: u64) {
        self.handle(Event::RequestReset {
            stream: StreamId(id),
        });
    }

    pub fn reject(&mut self, id: u64, status: u16, details: &'static str) {
        let peer = address(50000);
        self.handle(Event::RequestRejected {
            stream: StreamId(id),
            listener: 0,
            peer,
            status,
            details,
        });
    }

    /// Ports of the attempts so far.
    pub fn tried(&self) -> Vec<u16> {
        let port = |command: &Command| match command {
            Command::OpenUpstream { address, .. } => Some(address.port()),
            _ => None,
        };
        self.commands.iter().filter_map(port).collect()
    }

    /// The latest attempt.
    pub fn latest(&self) -> UpstreamId {
        UpstreamId(self.tried().len() as u64)
    }

    pub fn connect(&mut self) {
        self.handle(Event::UpstreamConnected {
            upstream: self.latest(),
        });
    }

    /// The latest attempt is connected and answers with this head.
    pub fn answer(&mut self, status: u16, extra: &[(&str, &str)], end_stream: bool) {
        self.connect();
        let status = status.to_string();
        let mut headers = lines(&[(":status", &status)]);
        headers.extend(lines(extra));
        self.handle(Event::ResponseHeaders {
            upstream: self.latest(),
            headers,
            end_stream,
        });
    }

    pub fn answer_data(&mut self, data: &str, end_stream: bool) {
        self.handle(Event::ResponseData {
            upstream: self.latest(),
            data: data.into(),
            end_stream,
        });
    }

    pub fn reset(&mut self, reason: ResetReason) {
        self.handle(Event::UpstreamReset {
            upstream: self.latest(),
            reason,
        });
    }

    /// Head, body and end that the latest attempt has been sent.
    pub fn sent_upstream(&self) -> (Option<Headers>, String, bool) {
        let latest = self.latest();
        let (mut head, mut body, mut end) = (None, String::new(), false);
        for command in &self.commands {
            match command {
                Command::SendUpstreamHeaders {
                    upstream,
                    headers,
                    end_stream,
                } if *upstream == latest => {
                    head = Some(headers.clone());
                    end |= end_stream;
                }
                Command::SendUpstreamData {
                    upstream,
                    data,
                    end_stream,
                } if *upstream == latest => {
                    body.push_str(std::str::from_utf8(data).unwrap());
                    end |= end_stream;
                }
                _ => {}
            }
        }
        (head, body, end)
    }

    pub fn response(&self, id: u64) -> Response {
        let mut response = Response::default();
        for command in &self.commands {
            match command {
                Command::SendHeaders {
                    stream,
                    headers,
                    end_stream,
                } if stream.0 == id => {
                    assert_eq!(response.status, 0, "two heads for one request");
                    response.status = value(headers, ":status").unwrap().parse().unwrap();
                    response.headers.clone_from(headers);
                    response.complete |= end_stream;
                }
                Command::SendData {
                    stream,
                    data,
                    end_stream,
                } if stream.0 == id => {
                    response.body.push_str(std::str::from_utf8(data).unwrap());
                    response.complete |= end_stream;
                }
                Command::SendTrailers { stream, .. } if stream.0 == id => response.complete = true,
                Command::ResetStream { stream } if stream.0 == id => response.broken = true,
                _ => {}
            }
        }
        response
    }

    /// Callbacks since the last look, without those that open and delete contexts.
    pub fn journal(&mut self) -> Vec<String> {
        let journal = std::mem::take(&mut *self.journal.lock().unwrap());
        journal
            .into_iter()
            .filter(|line| !line.contains("context_create") && !line.ends_with("delete"))
            .collect()
    }

    /// Access-log lines so far.
    pub fn log_lines(&self) -> Vec<String> {
        let line = |command: &Command| match command {
            Command::AccessLog { line, .. } => Some(line.clone()),
            _ => None,
        };
        self.commands.iter().filter_map(line).collect()
    }

    /// The last access-log line.
    pub fn last_log(&self) -> String {
        self.log_lines().pop().unwrap_or_default()
    }

    /// Whether the host's own log has a line with this in it.
    pub fn host_log_has(&self, part: &str) -> bool {
        self.commands
            .iter()
            .any(|command| matches!(command, Command::Log { text, .. } if text.contains(part)))
    }
}
