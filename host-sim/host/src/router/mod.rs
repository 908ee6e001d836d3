//! The router: the end of a client's chain and of a callout. It finds the cluster, makes attempts,
//! keeps the body for a replay, decides on retries and keeps time.

mod attempt;
mod exchange;
mod hosts;
mod outcome;
pub(crate) mod retry;
pub(crate) mod route;
mod timeouts;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::chain::{ChainKey, Direction, Piece};
use crate::config::{Forward, RouteAction};
use crate::engine::Engine;
use crate::flags::Flag;
use crate::io::{Headers, UpstreamId};
use crate::local_reply::Reply;
use crate::stats::Scope;
use crate::stream::{Response, Stream, StreamKey};
use crate::timers::TimerId;

pub(crate) use attempt::Attempt;
use retry::Retry;

/// State of the router in one request.
#[derive(Debug, Default)]
pub(crate) struct Router {
    /// What the route says; `None` until the head reached the router.
    pub(crate) forward: Option<Arc<Forward>>,
    pub(crate) cluster: String,
    pub(crate) timeouts: Timeouts,
    /// Bytes of a body that are kept for a replay.
    pub(crate) replay_limit_bytes: u64,
    /// `None`: no retry is possible (any more).
    pub(crate) retry: Option<Retry>,
    pub(crate) attempt: Option<UpstreamId>,
    pub(crate) retry_timer: Option<TimerId>,
    pub(crate) response_timer: Option<TimerId>,
    /// Addresses that `override_host` has not yet given out; `None` until its first selection.
    pub(crate) override_list: Option<VecDeque<Option<SocketAddr>>>,
    /// All of the request has reached the router.
    pub(crate) request_complete: bool,
    /// When it had.
    pub(crate) complete_at: Option<Duration>,
    /// A response head has been let through to the client's chain.
    pub(crate) response_started: bool,
    /// Nothing is wanted from upstream any more.
    pub(crate) done: bool,
}

/// Time-outs of a request; `None` is none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timeouts {
    pub(crate) whole: Option<Duration>,
    pub(crate) per_try: Option<Duration>,
    pub(crate) per_try_idle: Option<Duration>,
}

impl Engine {
    /// The head has passed the client's filters.
    pub(crate) fn route_request(&mut self, key: StreamKey, end: bool) {
        self.count_http(key, "rq_total");
        let Some(action) = self.route_action(key) else {
            self.count_http(key, "no_route");
            let mut reply = Reply::of_envoy(404, "", "route_not_found");
            reply.flag = Some(Flag::NoRouteFound);
            return self.local_reply(key, reply);
        };
        match action {
            RouteAction::Direct { status, body } => {
                self.count_http(key, "rq_direct_response");
                self.local_reply(key, Reply::of_envoy(status, &body, "direct_response"));
            }
            RouteAction::Forward(forward) => self.begin_forward(key, Arc::new(forward), end),
        }
    }

    /// Sends a request on: the first attempt.
    pub(crate) fn begin_forward(&mut self, key: StreamKey, forward: Arc<Forward>, end: bool) {
        let suppressed = self.suppress_envoy_headers(key);
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        let version = Arc::clone(&stream.version);
        let cluster = route::cluster_name(&forward.cluster, &stream.request_headers);
        let Some(cluster) = cluster.and_then(|name| version.config.clusters.get(&name)) else {
            self.count_http(key, "no_cluster");
            let mut reply = Reply::of_envoy(503, "", "cluster_not_found");
            reply.flag = Some(Flag::NoClusterFound);
            return self.local_reply(key, reply);
        };
        stream.info.upstream_cluster = Some(cluster.name.clone());
        stream.router.cluster.clone_from(&cluster.name);
        stream.router.timeouts = timeouts::read(&mut stream.request_headers, &forward, suppressed);
        stream.router.retry = Retry::read(&mut stream.request_headers, &forward.retry);
        stream.router.forward = Some(forward);
        stream.router.request_complete = end;
        self.start_attempt(key);
        if end {
            self.request_reached_router(key);
        }
    }

    /// A piece of the body has passed the client's filters: on to the attempt, and a copy stays for
    /// a replay as long as one is possible and fits.
    pub(crate) fn route_data(&mut self, key: StreamKey, piece: Piece, end: bool) {
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        if stream.router.done {
            return;
        }
        let lane = &mut stream.chain.decode;
        let held = lane.buffer.as_ref().map_or(0, Vec::len) as u64;
        let total = held
            + if let Piece::Fresh(bytes) = &piece {
                bytes.len() as u64
            } else {
                0
            };
        if stream.router.retry.is_some() && total > stream.router.replay_limit_bytes {
            if let Some(retry) = stream.router.retry.take() {
                retry.give_back(&self.process);
                let scope = Scope::Cluster(&stream.router.cluster);
                let mut stats = self.process.stats();
                stats.add(scope, "retry_or_shadow_abandoned", 1);
            }
            self.timers.cancel(stream.router.retry_timer.take());
            if stream.router.attempt.is_none() {
                let text = "exceeded request buffer limit while retrying upstream";
                let details = "request_payload_exceeded_retry_buffer_limit";
                return self.local_reply(key, Reply::of_envoy(507, text, details));
            }
        }
        let keep = stream.router.retry.is_some();
        let data = match piece {
            Piece::Fresh(bytes) if keep => {
                lane.buffer
                    .get_or_insert_default()
                    .extend_from_slice(&bytes);
                bytes
            }
            Piece::Fresh(bytes) => bytes,
            Piece::Buffered if keep => lane.buffer.clone().unwrap_or_default(),
            Piece::Buffered => lane.buffer.take().unwrap_or_default(),
        };
        stream.router.request_complete |= end;
        if let Some(id) = stream.router.attempt {
            self.attempt_data(id, data, end);
        }
        if end {
            self.request_reached_router(key);
        }
    }

    /// Trailers have passed the client's filters. They end the request.
    pub(crate) fn route_trailers(&mut self, key: StreamKey) {
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        if stream.router.done {
            return;
        }
        stream.router.request_complete = true;
        let trailers = stream.chain.decode.trailers.clone().unwrap_or_default();
        if let Some(id) = stream.router.attempt {
            self.attempt_trailers(id, trailers);
        }
        self.request_reached_router(key);
    }

    fn attempt_trailers(&mut self, id: UpstreamId, trailers: Headers) {
        if let Some(attempt) = self.attempts.get_mut(&id) {
            attempt.chain.decode.end_seen = true;
            attempt.chain.decode.trailers = Some(trailers);
        }
        self.pass_trailers(ChainKey::Attempt(id), Direction::Decode, 0);
    }

    fn request_reached_router(&mut self, key: StreamKey) {
        let now = self.now.monotonic;
        if let Some(stream) = self.streams.get_mut(&key) {
            stream.router.complete_at = Some(now);
        }
        self.start_response_timer(key);
        if let Some(id) = self
            .streams
            .get(&key)
            .and_then(|stream| stream.router.attempt)
        {
            self.start_per_try_timer(id);
        }
    }

    fn attempt_data(&mut self, id: UpstreamId, data: Vec<u8>, end: bool) {
        let chain = ChainKey::Attempt(id);
        if let Some(attempt) = self.attempts.get_mut(&id) {
            attempt.chain.decode.end_seen |= end;
        }
        self.pass_data(chain, Direction::Decode, 0, Piece::Fresh(data), end);
    }

    /// The request is answered or gone: time stops, and no event of an attempt is wanted any more.
    /// The attempt itself is finished later, after the client's filters.
    pub(crate) fn stop_router(&mut self, key: StreamKey) {
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        let router = &mut stream.router;
        router.done = true;
        let (retry_timer, response_timer) =
            (router.retry_timer.take(), router.response_timer.take());
        let (retry, attempt) = (router.retry.take(), router.attempt);
        self.timers.cancel(retry_timer);
        self.timers.cancel(response_timer);
        if let Some(retry) = retry {
            retry.give_back(&self.process);
        }
        if let Some(id) = attempt {
            self.cancel_attempt(id);
        }
    }

    /// A reply that a filter of this chain wants, or that Envoy gives for it. From an attempt's chain
    /// it goes to the client at once and is never retried.
    pub(crate) fn reply_of(&mut self, key: ChainKey, reply: Reply) {
        if let Some(stream) = self.stream_of(key) {
            self.local_reply(stream, reply);
        }
    }

    /// Breaks a request off for one of its filters.
    pub(crate) fn close_of(&mut self, key: ChainKey, details: &str) {
        if let Some(stream) = self.stream_of(key) {
            self.close_stream(stream, details);
        }
    }

    pub(crate) fn suppress_envoy_headers(&self, key: StreamKey) -> bool {
        let stream = self.streams.get(&key);
        stream
            .and_then(Stream::listener)
            .is_some_and(|listener| listener.http.router.suppress_envoy_headers)
    }

    /// The response has not begun for the client.
    fn before_response(&self, key: StreamKey) -> bool {
        self.streams.get(&key).is_some_and(|stream| {
            !stream.router.response_started
                && stream.response == Response::None
                && !stream.router.done
        })
    }
}
