//! The callbacks of a guest, with their arguments.

use super::ContextId;

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
    /// `proxy_on_queue_ready`.
    QueueReady {
        /// Root context.
        root: ContextId,
        /// Of the queue.
        token: u32,
    },
    /// `envoy_on_resolve_dns`.
    ResolveDns {
        /// Root context.
        root: ContextId,
        /// What `envoy_resolve_dns` gave.
        token: u32,
        /// Bytes of the answer; 0 for a name that cannot be asked for.
        size: u32,
    },
    /// `proxy_on_grpc_receive_initial_metadata`.
    GrpcReceiveInitialMetadata {
        /// Root context.
        root: ContextId,
        /// What `proxy_grpc_stream` gave.
        token: u32,
        /// Number of lines.
        count: u32,
    },
    /// `proxy_on_grpc_receive`.
    GrpcReceive {
        /// Root context.
        root: ContextId,
        /// What `proxy_grpc_call` or `proxy_grpc_stream` gave.
        token: u32,
        /// Bytes of the message.
        size: u32,
    },
    /// `proxy_on_grpc_receive_trailing_metadata`.
    GrpcReceiveTrailingMetadata {
        /// Root context.
        root: ContextId,
        /// What `proxy_grpc_stream` gave.
        token: u32,
        /// Number of lines.
        count: u32,
    },
    /// `proxy_on_grpc_close`.
    GrpcClose {
        /// Root context.
        root: ContextId,
        /// What `proxy_grpc_call` or `proxy_grpc_stream` gave, or would have given.
        token: u32,
        /// Status of gRPC; -1 if the worker's was none.
        status: u32,
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
            Call::QueueReady { .. } => "proxy_on_queue_ready",
            Call::ResolveDns { .. } => "envoy_on_resolve_dns",
            Call::GrpcReceiveInitialMetadata { .. } => "proxy_on_grpc_receive_initial_metadata",
            Call::GrpcReceive { .. } => "proxy_on_grpc_receive",
            Call::GrpcReceiveTrailingMetadata { .. } => "proxy_on_grpc_receive_trailing_metadata",
            Call::GrpcClose { .. } => "proxy_on_grpc_close",
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
            Call::QueueReady { root, token } => vec![root, token],
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
            Call::GrpcReceiveInitialMetadata { root, token, count }
            | Call::GrpcReceiveTrailingMetadata { root, token, count } => vec![root, token, count],
            Call::GrpcReceive { root, token, size } | Call::ResolveDns { root, token, size } => {
                vec![root, token, size]
            }
            Call::GrpcClose {
                root,
                token,
                status,
            } => vec![root, token, status],
            Call::Log { context } | Call::Done { context } | Call::Delete { context } => {
                vec![context]
            }
        }
    }
}
