//! The connection manager: what happens to a request before its first filter.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::admission::{self, Refused};
use crate::chain::{Chain, ChainKey, Direction, Piece};
use crate::config::HttpConnectionManager;
use crate::engine::Engine;
use crate::flags::Flag;
use crate::headers;
use crate::inline::{self, Side};
use crate::io::{ConnectionId, Headers, StreamId};
use crate::local_reply::Reply;
use crate::stream::{Origin, Response, Stream, StreamKey};
use crate::timers::Timer;
use crate::versions::Entrance;

/// Envoy's `stream_idle_timeout`.
const DEFAULT_STREAM_IDLE_TIMEOUT: Duration = Duration::from_secs(300);

/// What a client may never set.
const INTERNAL_HEADERS: [&str; 14] = [
    "x-envoy-retry-on",
    "x-envoy-retry-grpc-on",
    "x-envoy-max-retries",
    "x-envoy-hedge-on-per-try-timeout",
    "x-envoy-upstream-alt-stat-name",
    "x-envoy-upstream-rq-timeout-ms",
    "x-envoy-upstream-rq-per-try-timeout-ms",
    "x-envoy-upstream-rq-timeout-alt-response",
    "x-envoy-retriable-status-codes",
    "x-envoy-retriable-header-names",
    "x-envoy-upstream-stream-duration-ms",
    "x-envoy-expected-rq-timeout-ms",
    "x-envoy-ip-tags",
    "x-envoy-original-url",
];

/// What a client may not set where the gateway is the edge.
const EDGE_HEADERS: [&str; 6] = [
    "x-envoy-decorator-operation",
    "x-envoy-downstream-service-cluster",
    "x-envoy-downstream-service-node",
    "x-envoy-original-path",
    "x-envoy-original-host",
    "x-envoy-force-trace",
];

/// Headers of one connection, which do not go on to the next.
const HOP_HEADERS: [&str; 6] = [
    "connection",
    "upgrade",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "x-envoy-internal",
];

impl Engine {
    pub(crate) fn request_headers_came(
        &mut self,
        id: StreamId,
        listener: usize,
        client: (SocketAddr, Option<ConnectionId>),
        request: Headers,
        end: bool,
    ) {
        let (peer, _) = client;
        let Some(entrance) = self.versions.entrance(listener) else {
            return;
        };
        let Some(http) = entrance.listener().map(|listener| &listener.http) else {
            return;
        };
        let mut request = inline::joined(Side::Request, request);
        let refused = admission::check(http, &mut request).err();
        let upgrades = asks_to_upgrade(&request);
        let closes =
            headers::text(&request, "connection").is_some_and(|list| has_token(list, "close"));
        let request_id = refused
            .is_none()
            .then(|| self.make_ready(http, peer, &mut request));
        if refused == Some(Refused::Underscore) || refused == Some(Refused::NoPath) {
            // The codec refuses these: nothing of the request is known to the log.
            request.clear();
        } else if refused == Some(Refused::MissingHost) {
            // The connection manager writes it behind this check.
            headers::remove(&mut request, b":scheme");
        }
        let key = StreamKey::Client(id);
        self.open_stream(key, &entrance, client, request, end);
        if let Some(stream) = self.streams.get_mut(&key) {
            stream.info.request_id = request_id;
            stream.closes_connection |= closes;
        }
        if let Some(refused) = refused {
            if let Some(name) = refused.statistic() {
                self.count_http(key, name);
            }
            return self.local_reply(key, refused.reply());
        }
        self.route(key);
        if upgrades {
            self.count_http(key, "downstream_rq_ws_on_non_ws_route");
            return self.local_reply(key, Reply::of_envoy(403, "", "upgrade_failed"));
        }
        self.pass_headers(ChainKey::Stream(key), Direction::Decode, 0, end);
    }

    /// A piece that ends the body comes as Envoy's codec hands it on: the bytes, then the end.
    pub(crate) fn request_data_came(&mut self, id: StreamId, data: Vec<u8>, end: bool) {
        if !data.is_empty() {
            self.pass_request_data(id, data, false);
        }
        if end {
            self.pass_request_data(id, Vec::new(), true);
        }
    }

    fn pass_request_data(&mut self, id: StreamId, data: Vec<u8>, end: bool) {
        let key = StreamKey::Client(id);
        let now = self.now.monotonic;
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        stream.info.bytes_received += data.len() as u64;
        stream.request_complete |= end;
        stream.chain.decode.end_seen |= end;
        if end {
            stream.info.request_end = Some(now);
        }
        self.touch(key);
        let piece = Piece::Fresh(data);
        self.pass_data(ChainKey::Stream(key), Direction::Decode, 0, piece, end);
    }

    pub(crate) fn request_trailers_came(&mut self, id: StreamId, trailers: Headers) {
        let key = StreamKey::Client(id);
        let now = self.now.monotonic;
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        stream.request_complete = true;
        stream.info.request_end = Some(now);
        stream.chain.decode.end_seen = true;
        stream.chain.decode.trailers = Some(trailers);
        self.touch(key);
        self.pass_trailers(ChainKey::Stream(key), Direction::Decode, 0);
    }

    pub(crate) fn open_stream(
        &mut self,
        key: StreamKey,
        entrance: &Entrance,
        (peer, connection): (SocketAddr, Option<ConnectionId>),
        request: Headers,
        end: bool,
    ) {
        let Some(listener_config) = entrance.listener() else {
            return;
        };
        let (connection_id, filter_state) = self.connection_of(connection);
        let origin = Origin {
            listener: entrance.index,
            peer,
            connection,
            connection_id,
        };
        let limit = listener_config.buffer_limit_bytes;
        let plugins = &listener_config.http.filters;
        let filters = plugins
            .iter()
            .filter_map(|plugin| self.new_filter(&entrance.version, plugin))
            .collect();
        let mut stream = Stream::new(
            Some(origin),
            Arc::clone(&entrance.version),
            request,
            Chain::new(filters, limit, limit),
            self.now,
        );
        stream.info.filter_state = filter_state;
        stream.request_complete = end;
        stream.closes_connection = entrance.closing;
        stream.chain.decode.end_seen = end;
        if end {
            stream.info.request_end = Some(self.now.monotonic);
        }
        let idle = listener_config
            .http
            .stream_idle_timeout
            .unwrap_or(DEFAULT_STREAM_IDLE_TIMEOUT);
        stream.idle_timeout = (!idle.is_zero()).then_some(idle);
        self.count_begin(&stream);
        self.streams.insert(key, stream);
        self.touch(key);
    }

    /// Takes away what the client may not set and adds what Envoy adds. Gives the request id.
    fn make_ready(
        &mut self,
        http: &HttpConnectionManager,
        peer: SocketAddr,
        request: &mut Headers,
    ) -> String {
        for name in HOP_HEADERS.iter().chain(&INTERNAL_HEADERS) {
            headers::remove(request, name.as_bytes());
        }
        match headers::text(request, "te").map(|te| has_token(te, "trailers")) {
            Some(true) => headers::set(request, b"te", b"trailers"),
            Some(false) => headers::remove(request, b"te"),
            None => {}
        }
        let address = peer.ip().to_string();
        if http.use_remote_address {
            for name in EDGE_HEADERS {
                headers::remove(request, name.as_bytes());
            }
            let forwarded = match headers::text(request, "x-forwarded-for") {
                Some(earlier) => format!("{earlier},{address}"),
                None => address.clone(),
            };
            headers::set(request, b"x-forwarded-for", forwarded.as_bytes());
            headers::set(request, b"x-forwarded-proto", b"http");
            headers::set(request, b"x-envoy-external-address", address.as_bytes());
        } else if headers::get(request, b"x-forwarded-proto").is_none() {
            headers::set(request, b"x-forwarded-proto", b"http");
        }
        if headers::get(request, b":scheme").is_none() {
            headers::set(request, b":scheme", b"http");
        }
        if !http.use_remote_address
            && let Some(kept) = headers::text(request, "x-request-id")
        {
            return kept.to_owned();
        }
        let request_id = self.random.uuid();
        headers::replace(request, b"x-request-id", request_id.as_bytes());
        request_id
    }

    /// Something moved between client and gateway: the idle time begins anew.
    pub(crate) fn touch(&mut self, key: StreamKey) {
        let now = self.now.monotonic;
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        self.timers.cancel(stream.idle_timer.take());
        if let Some(limit) = stream.idle_timeout {
            stream.idle_timer = Some(self.timers.set(now + limit, Timer::StreamIdle(key)));
        }
    }

    pub(crate) fn stream_idle(&mut self, key: StreamKey) {
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        stream.idle_timer = None;
        stream.info.flag(Flag::StreamIdleTimeout);
        self.count_http(key, "downstream_rq_idle_timeout");
        let Some(stream) = self.streams.get(&key) else {
            return;
        };
        if stream.response == Response::Sent {
            return self.break_off(key, "stream_idle_timeout");
        }
        let status = if stream.request_complete { 504 } else { 408 };
        self.local_reply(
            key,
            Reply::of_envoy(status, "stream timeout", "stream_idle_timeout"),
        );
    }
}

/// Upgrades are off; the one to HTTP/2 is not even looked at.
fn asks_to_upgrade(request: &Headers) -> bool {
    let other = headers::text(request, "upgrade").is_some_and(|to| !to.eq_ignore_ascii_case("h2c"));
    let asks = headers::text(request, "connection");
    other && asks.is_some_and(|connection| has_token(connection, "upgrade"))
}

/// Whether `token` is in a list with commas.
fn has_token(list: &str, token: &str) -> bool {
    list.split(',')
        .any(|item| item.trim().eq_ignore_ascii_case(token))
}
