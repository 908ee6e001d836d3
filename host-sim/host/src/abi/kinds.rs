//! Numbers of the ABI that have names.

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
    /// 4.
    GrpcInitialMetadata,
    /// 5.
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
    /// 5.
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
