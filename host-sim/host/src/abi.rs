//! Both directions of the Proxy-Wasm ABI 0.2.1 as traits: [`Vm`] is what the host asks of a guest,
//! [`HostCalls`] what a guest asks of the host. Memory layout and linking are the business of
//! whoever implements [`Vm`].

use std::fmt;
use std::time::Duration;

use crate::config::VmConfig;
use crate::io::Headers;

/// Context id of a guest: root contexts and streams share one counter, from 1.
pub type ContextId = u32;

/// One call into a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// `proxy_on_context_create`; parent 0 makes a root context.
    ContextCreate {
        /// The new context.
        context: ContextId,
        /// Its root, or 0.
        parent: ContextId,
    },
    /// `proxy_on_vm_start`.
    VmStart {
        /// Root context.
        root: ContextId,
        /// Bytes of the VM configuration.
        size: u32,
    },
    /// `proxy_on_configure`.
    Configure {
        /// Root context.
        root: ContextId,
        /// Bytes of the plugin configuration.
        size: u32,
    },
    /// `proxy_on_tick`.
    Tick {
        /// Root context.
        root: ContextId,
    },
    /// `proxy_on_request_headers`.
    RequestHeaders {
        /// Stream context.
        context: ContextId,
        /// Number of header lines.
        count: u32,
        /// No body follows.
        end_of_stream: bool,
    },
    /// `proxy_on_request_body`.
    RequestBody {
        /// Stream context.
        context: ContextId,
        /// Bytes at hand.
        size: u32,
        /// Nothing follows.
        end_of_stream: bool,
    },
    /// `proxy_on_request_trailers`.
    RequestTrailers {
        /// Stream context.
        context: ContextId,
        /// Number of trailer lines.
        count: u32,
    },
    /// `proxy_on_response_headers`.
    ResponseHeaders {
        /// Stream context.
        context: ContextId,
        /// Number of header lines.
        count: u32,
        /// No body follows.
        end_of_stream: bool,
    },
    /// `proxy_on_response_body`.
    ResponseBody {
        /// Stream context.
        context: ContextId,
        /// Bytes at hand.
        size: u32,
        /// Nothing follows.
        end_of_stream: bool,
    },
    /// `proxy_on_response_trailers`.
    ResponseTrailers {
        /// Stream context.
        context: ContextId,
        /// Number of trailer lines.
        count: u32,
    },
    /// `proxy_on_http_call_response`.
    HttpCallResponse {
        /// Root context.
        root: ContextId,
        /// What `proxy_http_call` gave.
        token: u32,
        /// Number of header lines; 0 when the call broke.
        headers: u32,
        /// Bytes of the body.
        body_size: u32,
        /// Number of trailer lines.
        trailers: u32,
    },
    /// `proxy_on_log`.
    Log {
        /// Stream context.
        context: ContextId,
    },
    /// `proxy_on_done`.
    Done {
        /// Context.
        context: ContextId,
    },
    /// `proxy_on_delete`.
    Delete {
        /// Context.
        context: ContextId,
    },
}

impl Call {
    /// Name of the export.
    #[must_use]
    pub fn export(&self) -> &'static str {
        match self {
            Call::ContextCreate { .. } => "proxy_on_context_create",
            Call::VmStart { .. } => "proxy_on_vm_start",
            Call::Configure { .. } => "proxy_on_configure",
            Call::Tick { .. } => "proxy_on_tick",
            Call::RequestHeaders { .. } => "proxy_on_request_headers",
            Call::RequestBody { .. } => "proxy_on_request_body",
            Call::RequestTrailers { .. } => "proxy_on_request_trailers",
            Call::ResponseHeaders { .. } => "proxy_on_response_headers",
            Call::ResponseBody { .. } => "proxy_on_response_body",
            Call::ResponseTrailers { .. } => "proxy_on_response_trailers",
            Call::HttpCallResponse { .. } => "proxy_on_http_call_response",
            Call::Log { .. } => "proxy_on_log",
            Call::Done { .. } => "proxy_on_done",
            Call::Delete { .. } => "proxy_on_delete",
        }
    }

    /// What a guest without that export would have answered: Continue, or "yes" where a boolean
    /// is asked for.
    #[must_use]
    pub fn default_answer(&self) -> u32 {
        match self {
            Call::VmStart { .. } | Call::Configure { .. } | Call::Done { .. } => 1,
            _ => 0,
        }
    }

    /// Arguments in the order of the ABI.
    #[must_use]
    pub fn arguments(&self) -> Vec<u32> {
        match *self {
            Call::ContextCreate { context, parent } => vec![context, parent],
            Call::VmStart { root, size } | Call::Configure { root, size } => vec![root, size],
            Call::Tick { root } => vec![root],
            Call::RequestHeaders {
                context,
                count,
                end_of_stream,
            }
            | Call::ResponseHeaders {
                context,
                count,
                end_of_stream,
            } => vec![context, count, end_of_stream.into()],
            Call::RequestBody {
                context,
                size,
                end_of_stream,
            }
            | Call::ResponseBody {
                context,
                size,
                end_of_stream,
            } => {
                vec![context, size, end_of_stream.into()]
            }
            Call::RequestTrailers { context, count }
            | Call::ResponseTrailers { context, count } => {
                vec![context, count]
            }
            Call::HttpCallResponse {
                root,
                token,
                headers,
                body_size,
                trailers,
            } => {
                vec![root, token, headers, body_size, trailers]
            }
            Call::Log { context } | Call::Done { context } | Call::Delete { context } => {
                vec![context]
            }
        }
    }
}

/// The guest stopped: a trap, a bound that was passed, or a wrong export. It is not to be called again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap(pub String);

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Trap {}

/// A guest that is loaded and linked.
pub trait Vm: Send {
    /// Runs the start functions: `_initialize` and `main`, else `_start`. Only logging and WASI are
    /// answered meanwhile.
    ///
    /// # Errors
    /// When the guest traps.
    fn start(&mut self, host: &mut dyn HostCalls) -> Result<(), Trap>;

    /// Calls one export; [`Call::default_answer`] if the guest has none of that name.
    ///
    /// # Errors
    /// When the guest traps.
    fn call(&mut self, host: &mut dyn HostCalls, call: &Call) -> Result<u32, Trap>;
}

/// Makes guests; shared by all worker threads.
pub trait VmFactory: Send + Sync {
    /// A new instance of a module, linked, not yet started.
    ///
    /// # Errors
    /// When the file cannot be read or compiled, or imports what Envoy does not offer.
    fn instantiate(&self, vm: &VmConfig) -> Result<Box<dyn Vm>, LoadError>;
}

/// A module that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The file, as configured.
    pub code_path: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code_path, self.reason)
    }
}

impl std::error::Error for LoadError {}

/// Status codes of the ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Status {
    /// There is no such thing.
    NotFound = 1,
    /// Not now, or not like this.
    BadArgument = 2,
    /// A value has no form for guests.
    SerializationFailure = 3,
    /// A message of the guest cannot be read.
    ParseFailure = 4,
    /// A pointer outside of the guest's memory.
    InvalidMemoryAccess = 6,
    /// An empty queue.
    Empty = 7,
    /// Somebody else wrote first.
    CasMismatch = 8,
    /// The host could not do it.
    InternalFailure = 10,
    /// The host never does that.
    Unimplemented = 12,
}

/// Why a host call gave nothing: what the guest is told, and what stops it, are different things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The guest gets this status.
    Tell(Status),
    /// The guest is stopped: here Envoy itself would have crashed.
    Stop(String),
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        Refusal::Tell(status)
    }
}

/// Answer to a host call.
pub type Answer<T> = Result<T, Refusal>;

/// Header maps by their number in the ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapKind {
    /// 0.
    RequestHeaders,
    /// 1.
    RequestTrailers,
    /// 2.
    ResponseHeaders,
    /// 3.
    ResponseTrailers,
    /// 4: of gRPC, which is not modelled.
    GrpcInitialMetadata,
    /// 5: of gRPC, which is not modelled.
    GrpcTrailingMetadata,
    /// 6.
    HttpCallResponseHeaders,
    /// 7.
    HttpCallResponseTrailers,
}

impl MapKind {
    /// By number.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::RequestHeaders,
            1 => Self::RequestTrailers,
            2 => Self::ResponseHeaders,
            3 => Self::ResponseTrailers,
            4 => Self::GrpcInitialMetadata,
            5 => Self::GrpcTrailingMetadata,
            6 => Self::HttpCallResponseHeaders,
            7 => Self::HttpCallResponseTrailers,
            _ => return None,
        })
    }
}

/// Buffers by their number in the ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferKind {
    /// 0.
    RequestBody,
    /// 1.
    ResponseBody,
    /// 2: of network filters, never there.
    DownstreamData,
    /// 3: of network filters, never there.
    UpstreamData,
    /// 4.
    HttpCallResponseBody,
    /// 5: of gRPC, never there.
    GrpcReceiveBuffer,
    /// 6.
    VmConfiguration,
    /// 7.
    PluginConfiguration,
    /// 8: argument of a foreign function, never there.
    CallData,
}

impl BufferKind {
    /// By number.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::RequestBody,
            1 => Self::ResponseBody,
            2 => Self::DownstreamData,
            3 => Self::UpstreamData,
            4 => Self::HttpCallResponseBody,
            5 => Self::GrpcReceiveBuffer,
            6 => Self::VmConfiguration,
            7 => Self::PluginConfiguration,
            8 => Self::CallData,
            _ => return None,
        })
    }
}

/// Streams by their number in `continue_stream` and `close_stream`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// 0.
    Request,
    /// 1.
    Response,
    /// 2: of network filters.
    Downstream,
    /// 3: of network filters.
    Upstream,
}

impl StreamKind {
    /// By number.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Request,
            1 => Self::Response,
            2 => Self::Downstream,
            3 => Self::Upstream,
            _ => return None,
        })
    }
}

/// Kinds of metrics by their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetricKind {
    /// 0.
    Counter,
    /// 1.
    Gauge,
    /// 2.
    Histogram,
}

impl MetricKind {
    /// By number.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Counter,
            1 => Self::Gauge,
            2 => Self::Histogram,
            _ => return None,
        })
    }
}

/// An answer of the guest's own, queued until its call returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalResponse {
    /// HTTP status.
    pub status: u32,
    /// For logs; spaces become `_`.
    pub details: Vec<u8>,
    /// Body.
    pub body: Vec<u8>,
    /// Additional headers.
    pub headers: Headers,
}

/// A callout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpCall {
    /// Name of the cluster.
    pub cluster: Vec<u8>,
    /// Head, with `:method`, `:path` and `:authority`.
    pub headers: Headers,
    /// Body.
    pub body: Vec<u8>,
    /// Zero is none.
    pub timeout: Duration,
}

/// What a guest may ask of its host. Each method is one import (or one part of WASI) with its
/// arguments already taken out of the guest's memory.
#[expect(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "names and meaning are the ABI's"
)]
pub trait HostCalls {
    fn log(&mut self, level: u32, text: &[u8]) -> Answer<()>;
    fn get_log_level(&mut self) -> u32;
    fn get_status(&mut self) -> (u32, Vec<u8>);

    fn get_property(&mut self, path: &[u8]) -> Answer<Vec<u8>>;
    fn set_property(&mut self, path: &[u8], value: &[u8]) -> Answer<()>;

    fn get_header_map_pairs(&mut self, map: MapKind) -> Answer<Headers>;
    fn set_header_map_pairs(&mut self, map: MapKind, pairs: Headers) -> Answer<()>;
    fn get_header_map_value(&mut self, map: MapKind, name: &[u8]) -> Answer<Vec<u8>>;
    fn add_header_map_value(&mut self, map: MapKind, name: &[u8], value: &[u8]) -> Answer<()>;
    fn replace_header_map_value(&mut self, map: MapKind, name: &[u8], value: &[u8]) -> Answer<()>;
    fn remove_header_map_value(&mut self, map: MapKind, name: &[u8]) -> Answer<()>;
    fn get_header_map_size(&mut self, map: MapKind) -> Answer<u32>;

    fn get_buffer_bytes(&mut self, buffer: BufferKind, start: u32, length: u32) -> Answer<Vec<u8>>;
    fn get_buffer_status(&mut self, buffer: BufferKind) -> Answer<(u32, u32)>;
    fn set_buffer_bytes(
        &mut self,
        buffer: BufferKind,
        start: u32,
        length: u32,
        data: &[u8],
    ) -> Answer<()>;

    fn get_shared_data(&mut self, key: &[u8]) -> Answer<(Vec<u8>, u32)>;
    fn set_shared_data(&mut self, key: &[u8], value: &[u8], cas: u32) -> Answer<()>;

    fn define_metric(&mut self, kind: MetricKind, name: &[u8]) -> Answer<u32>;
    fn increment_metric(&mut self, id: u32, offset: i64) -> Answer<()>;
    fn record_metric(&mut self, id: u32, value: u64) -> Answer<()>;
    fn get_metric(&mut self, id: u32) -> Answer<u64>;

    fn http_call(&mut self, call: HttpCall) -> Answer<u32>;
    fn send_local_response(&mut self, response: LocalResponse) -> Answer<()>;
    fn continue_stream(&mut self, stream: StreamKind) -> Answer<()>;
    fn close_stream(&mut self, stream: StreamKind) -> Answer<()>;

    fn set_tick_period_milliseconds(&mut self, period_ms: u32) -> Answer<()>;
    fn get_current_time_nanoseconds(&mut self) -> u64;
    fn set_effective_context(&mut self, context: ContextId) -> Answer<()>;
    fn done(&mut self) -> Answer<()>;
    fn call_foreign_function(&mut self, name: &[u8], argument: &[u8]) -> Answer<Vec<u8>>;

    /// An import that Envoy has and this host does not model yet: logged once, then `Unimplemented`.
    fn not_modelled(&mut self, import: &'static str) -> Refusal;

    /// WASI `fd_write` to 1 or 2.
    fn write(&mut self, fd: u32, text: &[u8]);
    /// WASI `CLOCK_MONOTONIC`.
    fn monotonic(&mut self) -> Duration;
    /// WASI `random_get`; from the seed.
    fn random(&mut self, out: &mut [u8]);
    /// WASI `environ_get`, as `NAME=value`.
    fn environment(&mut self) -> Vec<String>;
}
