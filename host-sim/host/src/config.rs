//! The checked form of an `envoy.yaml`: only what is modelled can be said.
//!
//! The `host-sim-envoy` crate reads YAML into this and refuses every field it has no place for.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// A whole static configuration.
#[derive(Clone, Debug)]
pub struct Bootstrap {
    /// Where the admin endpoints listen, if anywhere.
    pub admin: Option<SocketAddr>,
    /// In the order of the file.
    pub listeners: Vec<Listener>,
    /// By name.
    pub clusters: BTreeMap<String, Cluster>,
    /// Tags cut out of metric names, in order: name and regular expression.
    pub stats_tags: Vec<StatsTag>,
    /// What this Envoy is called.
    pub node: Node,
}

/// `node`, which guests can read; nothing here is decided by it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Id.
    pub id: String,
    /// The cluster that it is a part of.
    pub cluster: String,
    /// Anything.
    pub metadata: BTreeMap<String, Plain>,
    /// Where it is: region, zone and a part of it, if any of them is said.
    pub locality: Option<Locality>,
}

/// A place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locality {
    /// Region.
    pub region: String,
    /// Zone of the region.
    pub zone: String,
    /// Part of the zone.
    pub sub_zone: String,
}

/// `stats_config.stats_tags[]`.
#[derive(Clone, Debug)]
pub struct StatsTag {
    /// Label name.
    pub tag_name: String,
    /// First group is cut from the name, second is the value.
    pub regex: String,
}

/// One listener with one filter chain that holds one HTTP connection manager.
#[derive(Clone, Debug)]
pub struct Listener {
    /// Name.
    pub name: String,
    /// Where it listens.
    pub address: SocketAddr,
    /// `metadata.filter_metadata`: namespace → key → value.
    pub metadata: BTreeMap<String, BTreeMap<String, Plain>>,
    /// `per_connection_buffer_limit_bytes`, Envoy's default 1 MiB.
    pub buffer_limit_bytes: u64,
    /// The connection manager.
    pub http: HttpConnectionManager,
}

/// A value of metadata, as JSON has them.
#[derive(Clone, Debug, PartialEq)]
pub enum Plain {
    /// `null`.
    Null,
    /// `true` and `false`.
    Bool(bool),
    /// Any number.
    Number(f64),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Plain>),
    /// A map.
    Map(BTreeMap<String, Plain>),
}

/// The connection manager of a listener.
#[derive(Clone, Debug)]
pub struct HttpConnectionManager {
    /// Prefix of its statistics.
    pub stat_prefix: String,
    /// Strip what external clients may not set, use the peer's address, own request id.
    pub use_remote_address: bool,
    /// Downstream idle time-out of a stream; a route's `idle_timeout` replaces it. `None`: 5 min.
    pub stream_idle_timeout: Option<Duration>,
    /// How long a closing connection waits for the client. Envoy's default: 1 s.
    pub delayed_close_timeout: Duration,
    /// Dot segments are resolved before anything looks at the path.
    pub normalize_path: bool,
    /// `//` becomes `/`.
    pub merge_slashes: bool,
    /// What happens to `%2F` and `%5C` in the path.
    pub path_with_escaped_slashes_action: EscapedSlashes,
    /// What happens to header names with `_`.
    pub headers_with_underscores_action: UnderscoreHeaders,
    /// `x-request-id` in every response.
    pub always_set_request_id_in_response: bool,
    /// Bounds and options of HTTP/1.1.
    pub http1: Http1,
    /// Window of an HTTP/2 stream, which also bounds bodies there. Envoy's default: 16 MiB.
    pub http2_initial_stream_window_size: Option<u32>,
    /// One line per request.
    pub access_log: Vec<AccessLog>,
    /// Replacement bodies for Envoy's own answers; the first that matches is used.
    pub local_reply_mappers: Vec<LocalReplyMapper>,
    /// The virtual hosts.
    pub virtual_hosts: Vec<VirtualHost>,
    /// Wasm filters in order; the router comes after them.
    pub filters: Vec<Arc<Plugin>>,
    /// The router.
    pub router: Router,
}

/// What HTTP/1.1 may carry on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Http1 {
    /// Most bytes of a head: `max_request_headers_kb` or `max_response_headers_kb`.
    pub head_limit_bytes: usize,
    /// Most lines of a head, and of trailers: `max_headers_count`.
    pub header_limit: usize,
    /// `enable_trailers`: trailers are read and written. Without it they are dropped.
    pub trailers: bool,
}

impl Http1 {
    /// Envoy's defaults towards clients.
    pub const CLIENTS: Http1 = Http1 {
        head_limit_bytes: 60 * 1024,
        header_limit: 100,
        trailers: false,
    };
    /// Envoy's defaults towards workers.
    pub const WORKERS: Http1 = Http1 {
        head_limit_bytes: 80 * 1024,
        ..Http1::CLIENTS
    };
}

/// `path_with_escaped_slashes_action`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapedSlashes {
    /// Left as they are.
    Keep,
    /// 400.
    Reject,
}

/// `headers_with_underscores_action`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnderscoreHeaders {
    /// Let through.
    Allow,
    /// 400.
    Reject,
    /// The header is dropped.
    Drop,
}

/// The router filter.
#[derive(Clone, Debug, Default)]
pub struct Router {
    /// No `x-envoy-*` headers of the router's own in requests and responses.
    pub suppress_envoy_headers: bool,
    /// One line per attempt.
    pub upstream_log: Vec<AccessLog>,
}

/// A file access log with a JSON format.
#[derive(Clone, Debug)]
pub struct AccessLog {
    /// File; `/dev/stdout` and `/dev/stderr` are the process's own.
    pub path: String,
    /// Written for every request if `None`.
    pub filter: Option<ReplyFilter>,
    /// Drop fields without a value.
    pub omit_empty_values: bool,
    /// The line.
    pub format: JsonFormat,
}

/// A `json_format`: nested objects whose leaves are format strings, in the order of the file.
#[derive(Clone, Debug)]
pub enum JsonFormat {
    /// Command operators (`%RESPONSE_CODE%`) between literal text; checked by the reader.
    Text(String),
    /// A number, boolean or null as JSON text.
    Literal(String),
    /// An object.
    Object(Vec<(String, JsonFormat)>),
}

/// Which answers of Envoy's own a mapper changes.
#[derive(Clone, Debug)]
pub enum ReplyFilter {
    /// All of these.
    And(Vec<ReplyFilter>),
    /// Any of these.
    Or(Vec<ReplyFilter>),
    /// `status_code_filter` with `EQ`, `GE`, `LE`.
    Status(Comparison, u32),
    /// `response_flag_filter`: any of these short names (`UF`, `UT`, ...); empty: any flag at all.
    Flags(Vec<String>),
    /// `header_filter`: this request header has this value, or starts with it.
    Header(HeaderMatch),
    /// The CEL expression `response.code_details != ''`: the answer is not a wasm filter's.
    HasDetails,
}

/// Operator of [`ReplyFilter::Status`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Equal.
    Eq,
    /// At least.
    Ge,
    /// At most.
    Le,
}

/// One mapper of `local_reply_config`.
#[derive(Clone, Debug)]
pub struct LocalReplyMapper {
    /// Which answers.
    pub filter: ReplyFilter,
    /// New status, if another.
    pub status_code: Option<u16>,
    /// New body, if another; sent as `application/json`.
    pub body: Option<JsonFormat>,
    /// Headers to set.
    pub headers_to_add: Vec<(String, String)>,
}

/// Virtual hosts are matched by `domains`; only `*` and exact names are modelled.
#[derive(Clone, Debug)]
pub struct VirtualHost {
    /// Name.
    pub name: String,
    /// `*` or exact host names.
    pub domains: Vec<String>,
    /// Bytes of a request that may be buffered and replayed.
    pub request_body_buffer_limit: Option<u64>,
    /// First match wins.
    pub routes: Vec<Route>,
}

/// One route.
#[derive(Clone, Debug)]
pub struct Route {
    /// Name, for logs.
    pub name: Option<String>,
    /// Which requests.
    pub path: PathMatch,
    /// All of these must hold.
    pub headers: Vec<HeaderMatch>,
    /// Replaces the virtual host's limit.
    pub request_body_buffer_limit: Option<u64>,
    /// What happens.
    pub action: RouteAction,
}

/// Path of a [`Route`]; the query string is not looked at.
#[derive(Clone, Debug)]
pub enum PathMatch {
    /// Starts with.
    Prefix(String),
    /// Is.
    Exact(String),
}

/// A header condition.
#[derive(Clone, Debug)]
pub struct HeaderMatch {
    /// Lower-case name.
    pub name: String,
    /// Condition on the value.
    pub value: ValueMatch,
}

/// A condition on a header value.
#[derive(Clone, Debug)]
pub enum ValueMatch {
    /// Is.
    Exact(String),
    /// Starts with.
    Prefix(String),
    /// Is there at all.
    Present,
}

/// What a route does.
#[derive(Clone, Debug)]
pub enum RouteAction {
    /// Envoy answers by itself.
    Direct {
        /// Status.
        status: u16,
        /// Body; empty if none.
        body: String,
    },
    /// To a cluster.
    Forward(Forward),
}

/// A route to a cluster.
#[derive(Clone, Debug)]
pub struct Forward {
    /// Which cluster.
    pub cluster: ClusterChoice,
    /// Whole time until the response is complete; `None` is none (YAML `0s`). Envoy's default: 15 s.
    pub timeout: Option<Duration>,
    /// Replaces the connection manager's; `None` is not set.
    pub idle_timeout: Option<Duration>,
    /// Retries; headers of the request refine them.
    pub retry: RetryPolicy,
}

/// How a route finds its cluster.
#[derive(Clone, Debug)]
pub enum ClusterChoice {
    /// By name.
    Named(String),
    /// Matcher cluster specifier: value of a request header → cluster, exact.
    ByHeader {
        /// Lower-case header name.
        header: String,
        /// Header value → cluster name.
        map: BTreeMap<String, String>,
    },
}

/// `retry_policy` of a route.
#[derive(Clone, Debug, Default)]
pub struct RetryPolicy {
    /// Envoy's names, comma-separated; empty: only what the request's headers say.
    pub retry_on: String,
    /// `num_retries`, Envoy's default 1.
    pub num_retries: Option<u32>,
    /// Time for one attempt until response headers.
    pub per_try_timeout: Option<Duration>,
    /// Longest silence in one attempt.
    pub per_try_idle_timeout: Option<Duration>,
    /// `retry_back_off.base_interval`, Envoy's default 25 ms.
    pub base_interval: Option<Duration>,
    /// `retry_back_off.max_interval`, Envoy's default ten times the base.
    pub max_interval: Option<Duration>,
    /// Find the cluster again for each retry.
    pub refresh_cluster_on_retry: bool,
}

/// A static cluster.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Name.
    pub name: String,
    /// Envoy's default: 5 s.
    pub connect_timeout: Duration,
    /// Members.
    pub endpoints: Vec<SocketAddr>,
    /// `None`: HTTP/1.1; else HTTP/2 without TLS, with prior knowledge.
    pub http2: Option<Http2>,
    /// Bounds and options of HTTP/1.1.
    pub http1: Http1,
    /// How a member is chosen.
    pub load_balancing: LoadBalancing,
    /// Most retries at a time, Envoy's default 3.
    pub max_retries: u32,
    /// Most requests at a time, Envoy's default 1024.
    pub max_requests: u32,
    /// Most requests waiting for a connection, Envoy's default 1024.
    pub max_pending_requests: u32,
    /// Most connections, Envoy's default 1024.
    pub max_connections: u32,
    /// Wasm filters of the upstream chain in order; the codec comes after them.
    pub upstream_filters: Vec<Arc<Plugin>>,
}

/// `http2_protocol_options` of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Http2 {
    /// Most requests at a time on one connection; a worker may allow fewer. `None`: as many as it allows.
    pub max_concurrent_streams: Option<u32>,
    /// Bytes of a response that a worker may send ahead.
    pub initial_stream_window_size: Option<u32>,
    /// The same for all responses on one connection.
    pub initial_connection_window_size: Option<u32>,
}

/// Load-balancing policy of a cluster.
#[derive(Clone, Debug)]
pub enum LoadBalancing {
    /// In turn.
    RoundRobin,
    /// The addresses in a request header, in order over the attempts.
    OverrideHost {
        /// Lower-case header names, their lists joined.
        headers: Vec<String>,
        /// When the list is used up or names no member.
        fallback: Box<LoadBalancing>,
    },
    /// A subset policy that matches nothing and falls back to nothing: 503 `no healthy upstream`.
    None,
}

/// One wasm plugin in a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin {
    /// Name of the plugin, `plugin_name`.
    pub name: String,
    /// `root_id`.
    pub root_id: String,
    /// What the guest reads in `on_configure`.
    pub configuration: Vec<u8>,
    /// Pause in a header callback still lets this filter see the body.
    pub allow_on_headers_stop_iteration: bool,
    /// What a trap means for later requests.
    pub failure_policy: FailurePolicy,
    /// The VM.
    pub vm: VmConfig,
}

/// `failure_policy` of a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailurePolicy {
    /// 503 from then on.
    Closed,
    /// Requests pass without the filter.
    Open,
    /// A new VM for the next stream, at most once per interval. Envoy's default interval: 1 s.
    Reload {
        /// `reload_config.backoff.base_interval`.
        base_interval: Duration,
    },
}

/// `vm_config`: plugins with an equal one share a VM on each thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VmConfig {
    /// Name space of shared data.
    pub vm_id: String,
    /// What the guest reads in `on_vm_start`.
    pub configuration: Vec<u8>,
    /// `code.local.filename`, as written.
    pub code_path: String,
    /// `environment_variables.key_values`.
    pub env: BTreeMap<String, String>,
    /// `environment_variables.host_env_keys`.
    pub host_env_keys: Vec<String>,
    /// `capability_restriction_config.allowed_capabilities`: names of imports and exports that the
    /// guest may use; none at all is no restriction.
    pub allowed_capabilities: BTreeSet<String>,
}
