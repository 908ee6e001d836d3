//! What the engine keeps of a request: a client's, or a callout's (which has no filters).

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::chain::Chain;
use crate::config::Listener;
use crate::filter_state::FilterState;
use crate::flags::Flag;
use crate::grpc::status;
use crate::headers;
use crate::io::{ConnectionId, Headers, Now, StreamId};
use crate::router::Router;
use crate::timers::TimerId;
use crate::versions::Version;

/// Names a request in the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StreamKey {
    /// Of a client.
    Client(StreamId),
    /// Of a guest.
    Callout(u64),
}

/// One request.
#[derive(Debug)]
pub(crate) struct Stream {
    /// The configuration it goes by to its end.
    pub(crate) version: Arc<Version>,
    /// Where it came in; `None` for a callout.
    pub(crate) origin: Option<Origin>,
    /// One map from the first filter to the last attempt.
    pub(crate) request_headers: Headers,
    pub(crate) chain: Chain,
    pub(crate) router: Router,
    pub(crate) info: Info,
    /// The client, or the guest that calls, speaks gRPC.
    pub(crate) is_grpc: bool,
    /// `None`: not looked up since the last change of the headers.
    pub(crate) route: Option<Option<RouteRef>>,
    pub(crate) response: Response,
    /// The head that has left for the client.
    pub(crate) sent_head: Option<Headers>,
    /// All of the request has arrived.
    pub(crate) request_complete: bool,
    /// The client's connection ends with the response.
    pub(crate) closes_connection: bool,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) idle_timer: Option<TimerId>,
}

/// Where a client's request came in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// Index in the configuration of the stream.
    pub(crate) listener: usize,
    pub(crate) peer: SocketAddr,
    pub(crate) connection: Option<ConnectionId>,
    pub(crate) connection_id: u64,
}

/// Indexes of a virtual host and its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RouteRef {
    pub(crate) virtual_host: usize,
    pub(crate) route: usize,
}

/// How far the response is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Response {
    /// Nothing yet.
    None,
    /// Its head is with the filters.
    InChain,
    /// Its head has left.
    Sent,
}

/// What logs and guests can read about a request.
#[derive(Clone, Debug)]
pub(crate) struct Info {
    pub(crate) started: Now,
    pub(crate) filter_state: FilterState,
    pub(crate) flags: Vec<Flag>,
    pub(crate) details: Option<String>,
    pub(crate) response_code: Option<u16>,
    pub(crate) request_id: Option<String>,
    pub(crate) attempts: u32,
    pub(crate) upstream_cluster: Option<String>,
    pub(crate) upstream_address: Option<SocketAddr>,
    pub(crate) transport_failure: Option<String>,
    /// How long the last attempt that got a connection waited for it.
    pub(crate) pool_ready: Option<Duration>,
    pub(crate) bytes_received: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) request_end: Option<Duration>,
    pub(crate) response_begin: Option<Duration>,
    pub(crate) upstream_request_begin: Option<Duration>,
    pub(crate) upstream_request_end: Option<Duration>,
    pub(crate) upstream_response_begin: Option<Duration>,
    pub(crate) upstream_response_end: Option<Duration>,
    pub(crate) response_end: Option<Duration>,
    /// Of Envoy's own answer, for `%LOCAL_REPLY_BODY%`.
    pub(crate) local_reply_body: String,
}

impl Info {
    pub(crate) fn new(started: Now) -> Self {
        Info {
            started,
            filter_state: FilterState::default(),
            flags: Vec::new(),
            details: None,
            response_code: None,
            request_id: None,
            attempts: 0,
            upstream_cluster: None,
            upstream_address: None,
            transport_failure: None,
            pool_ready: None,
            bytes_received: 0,
            bytes_sent: 0,
            request_end: None,
            response_begin: None,
            upstream_request_begin: None,
            upstream_request_end: None,
            upstream_response_begin: None,
            upstream_response_end: None,
            response_end: None,
            local_reply_body: String::new(),
        }
    }

    pub(crate) fn flag(&mut self, flag: Flag) {
        if !self.flags.contains(&flag) {
            self.flags.push(flag);
        }
    }

    pub(crate) fn flag_bits(&self) -> u64 {
        self.flags.iter().fold(0, |bits, flag| bits | flag.bit())
    }
}

impl Stream {
    /// The request's id as its head has it now: a filter may have changed it. Refused requests have none.
    pub(crate) fn request_id(&self) -> Option<&str> {
        self.info.request_id.as_ref()?;
        headers::text(&self.request_headers, "x-request-id")
    }

    pub(crate) fn new(
        origin: Option<Origin>,
        version: Arc<Version>,
        request_headers: Headers,
        chain: Chain,
        now: Now,
    ) -> Self {
        let is_grpc = status::is_grpc(&request_headers);
        Stream {
            version,
            origin,
            is_grpc,
            request_headers,
            chain,
            router: Router::default(),
            info: Info::new(now),
            route: None,
            response: Response::None,
            sent_head: None,
            request_complete: false,
            closes_connection: false,
            idle_timeout: None,
            idle_timer: None,
        }
    }

    /// The listener it came in at.
    pub(crate) fn listener(&self) -> Option<&Listener> {
        self.version.config.listeners.get(self.origin?.listener)
    }
}
