//! Between a worker thread of the simulated Envoy and the world: events in, commands out.
//!
//! The same worker runs under real sockets (`host-sim serve`) and under a scenario on a virtual
//! clock. Whoever drives it calls `Worker::handle` for each event, then carries out the commands
//! from `Worker::take_commands` in order, and calls `Worker::advance` when `Worker::next_timer` is due.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::config::{Http1, Http2};

/// Time: `monotonic` counts from the start of the process, `wall` from 1970. A scenario may let
/// the wall clock jump; timers go by `monotonic`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Now {
    /// Since the start of the process.
    pub monotonic: Duration,
    /// Since 1970-01-01T00:00:00Z.
    pub wall: Duration,
}

/// One request of a client, unique in a worker. Chosen by the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(pub u64);

/// One connection of a client, unique in a worker. Chosen by the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

/// One attempt or callout, unique in a worker. Chosen by the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UpstreamId(pub u64);

/// A name that is looked up, unique in a worker. Chosen by the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LookupId(pub u64);

/// Header lines in order: names in lower case, values as raw bytes. Requests carry `:method`,
/// `:path`, `:scheme`, `:authority`; responses `:status`.
pub type Headers = Vec<(Vec<u8>, Vec<u8>)>;

/// What the world tells a worker.
#[derive(Clone, Debug)]
pub enum Event {
    /// A client sent the head of a request.
    RequestHeaders {
        /// New id.
        stream: StreamId,
        /// Number of the entrance: the index into [`crate::config::Bootstrap::listeners`] as long as
        /// the configuration is the first one, see [`crate::Update::listeners`].
        listener: usize,
        /// The client.
        peer: SocketAddr,
        /// The connection, which [`Event::ConnectionEnded`] must name at its end; `None` if it carries
        /// this request only.
        connection: Option<ConnectionId>,
        /// The head.
        headers: Headers,
        /// No body follows.
        end_stream: bool,
    },
    /// A connection of a client is over, and so are its requests.
    ConnectionEnded {
        /// Which.
        connection: ConnectionId,
    },
    /// A piece of the body, as it was read.
    RequestData {
        /// Whose.
        stream: StreamId,
        /// May be empty when it only ends the stream.
        data: Vec<u8>,
        /// Nothing follows.
        end_stream: bool,
    },
    /// Trailers end a request.
    RequestTrailers {
        /// Whose.
        stream: StreamId,
        /// The trailers.
        trailers: Headers,
    },
    /// The client broke off.
    RequestReset {
        /// Whose.
        stream: StreamId,
    },
    /// The rest of a request cannot be read (chunks that break the rules). Answered through the
    /// filters if no response has begun, else the response breaks off; the driver ends the connection.
    RequestBroken {
        /// Whose.
        stream: StreamId,
        /// Status to answer with.
        status: u16,
        /// Envoy's name for it, for example `http1.codec_error`.
        details: &'static str,
    },
    /// A request that the codec refuses before any filter runs (bad request line, headers too
    /// large). Answered by the connection manager; no request callbacks run.
    RequestRejected {
        /// New id.
        stream: StreamId,
        /// Number of the entrance.
        listener: usize,
        /// The client.
        peer: SocketAddr,
        /// Status to answer with.
        status: u16,
        /// Envoy's name for it, for example `http1.codec_error`.
        details: &'static str,
    },
    /// The connection of an attempt is there.
    UpstreamConnected {
        /// Whose.
        upstream: UpstreamId,
    },
    /// The worker sent the head of a response.
    ResponseHeaders {
        /// Whose.
        upstream: UpstreamId,
        /// The head.
        headers: Headers,
        /// No body follows.
        end_stream: bool,
    },
    /// A piece of a response, as it was read.
    ResponseData {
        /// Whose.
        upstream: UpstreamId,
        /// May be empty when it only ends the stream.
        data: Vec<u8>,
        /// Nothing follows.
        end_stream: bool,
    },
    /// Trailers end a response.
    ResponseTrailers {
        /// Whose.
        upstream: UpstreamId,
        /// The trailers.
        trailers: Headers,
    },
    /// What became of [`Command::Resolve`].
    Resolved {
        /// Which.
        lookup: LookupId,
        /// The addresses of the name; none if there is no such name, or nobody knows it.
        addresses: Vec<IpAddr>,
    },
    /// Another worker, or this one, asked for it by [`Command::Wake`].
    Woken,
    /// The attempt broke.
    UpstreamReset {
        /// Whose.
        upstream: UpstreamId,
        /// How.
        reason: ResetReason,
    },
}

/// How an attempt broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResetReason {
    /// No connection; Envoy's text, for example `delayed connect error: Connection refused`.
    ConnectFailure(String),
    /// No connection within `connect_timeout`.
    ConnectTimeout,
    /// The connection ended before the response did.
    ConnectionTermination,
    /// The response is not HTTP.
    ProtocolError,
    /// The worker broke the stream off (HTTP/2).
    RemoteReset,
    /// The worker did not take the stream (HTTP/2, `REFUSED_STREAM`).
    RemoteRefused,
}

/// What a worker wants from the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Head of the response to a client.
    SendHeaders {
        /// Whose.
        stream: StreamId,
        /// The head.
        headers: Headers,
        /// No body follows.
        end_stream: bool,
    },
    /// A piece of the response.
    SendData {
        /// Whose.
        stream: StreamId,
        /// May be empty when it only ends the stream.
        data: Vec<u8>,
        /// Nothing follows.
        end_stream: bool,
    },
    /// Trailers end the response.
    SendTrailers {
        /// Whose.
        stream: StreamId,
        /// The trailers.
        trailers: Headers,
    },
    /// Break the response off: the client must see that it is not complete.
    ResetStream {
        /// Whose.
        stream: StreamId,
    },
    /// Start an attempt: get a connection (a kept one or a new one).
    OpenUpstream {
        /// New id.
        upstream: UpstreamId,
        /// The client's request it serves, for back-pressure; `None` for a callout.
        stream: Option<StreamId>,
        /// Name of the cluster.
        cluster: String,
        /// Where to.
        address: SocketAddr,
        /// How long to wait for the connection.
        connect_timeout: Duration,
        /// `None`: HTTP/1.1.
        http2: Option<Http2>,
        /// For HTTP/1.1.
        http1: Http1,
    },
    /// Head of the request to a worker; sent once connected.
    SendUpstreamHeaders {
        /// Whose.
        upstream: UpstreamId,
        /// The head.
        headers: Headers,
        /// No body follows.
        end_stream: bool,
    },
    /// A piece of the request to a worker.
    SendUpstreamData {
        /// Whose.
        upstream: UpstreamId,
        /// May be empty when it only ends the request.
        data: Vec<u8>,
        /// Nothing follows.
        end_stream: bool,
    },
    /// Trailers end the request to a worker.
    SendUpstreamTrailers {
        /// Whose.
        upstream: UpstreamId,
        /// The trailers.
        trailers: Headers,
    },
    /// Break an attempt off. No event of it is wanted any more.
    CancelUpstream {
        /// Whose.
        upstream: UpstreamId,
    },
    /// A guest asks for the addresses of a name; [`Event::Resolved`] is to follow, but never inside of this call.
    Resolve {
        /// New id.
        lookup: LookupId,
        /// A host name: letters, digits and `-._/*`.
        name: String,
    },
    /// Something was put into a shared queue: worker `thread` is to get [`Event::Woken`], soon but never
    /// inside of another call. It may be the worker that says so.
    Wake {
        /// Number of the worker.
        thread: usize,
    },
    /// A line for an access log, without its line feed.
    AccessLog {
        /// The client's request it is about; `None` for a callout.
        stream: Option<StreamId>,
        /// File of the log.
        path: String,
        /// The line.
        line: String,
    },
    /// A line of the host's own log (guest `proxy_log`, traps).
    Log {
        /// `trace` to `critical`.
        level: &'static str,
        /// The line.
        text: String,
    },
}
