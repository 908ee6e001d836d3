//! One attempt: its connection, its own filters, the request that waits for the connection.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::chain::{Chain, ChainKey, Direction, Piece};
use crate::engine::Engine;
use crate::flags::Flag;
use crate::io::{Command, Headers, Now, UpstreamId};
use crate::local_reply::Reply;
use crate::router::retry::Reset;
use crate::stats::Scope;
use crate::stream::StreamKey;
use crate::timers::TimerId;

/// One attempt.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) stream: StreamKey,
    pub(crate) cluster: String,
    pub(crate) address: SocketAddr,
    pub(crate) chain: Chain,
    pub(crate) started: Now,
    /// The connection is there.
    pub(crate) connected: bool,
    /// The request's head has passed the filters; whether it is all of the request.
    pub(super) head_ready: Option<bool>,
    pub(super) head_sent: bool,
    /// The body that waits for the connection, and whether it ends there.
    pub(super) waiting: Vec<u8>,
    pub(super) waiting_end: bool,
    /// The trailers that wait behind it.
    pub(super) waiting_trailers: Option<Headers>,
    /// The router has seen the response's head.
    pub(crate) response_passed: bool,
    /// All of the response has arrived, or it broke: there is nothing to cancel.
    pub(crate) upstream_over: bool,
    pub(crate) cancelled: bool,
    pub(crate) per_try_timer: Option<TimerId>,
    pub(crate) idle_timer: Option<TimerId>,
    /// For the attempt's line in the log.
    pub(crate) status: u16,
    pub(crate) flags: Vec<Flag>,
    pub(crate) transport_failure: Option<String>,
    pub(crate) times: Times,
    pub(crate) bytes_received: u64,
    pub(crate) bytes_sent: u64,
}

/// Moments of an attempt on the monotonic clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) request_begin: Option<std::time::Duration>,
    pub(crate) request_end: Option<std::time::Duration>,
    pub(crate) response_begin: Option<std::time::Duration>,
    pub(crate) response_end: Option<std::time::Duration>,
}

impl Engine {
    /// Begins an attempt: host, connection, filters; the body that is there already follows.
    pub(super) fn start_attempt(&mut self, key: StreamKey) {
        let process = Arc::clone(&self.process);
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        let version = Arc::clone(&stream.version);
        let Some(cluster) = version.config.clusters.get(&stream.router.cluster) else {
            return;
        };
        stream.info.attempts += 1;
        let Some(address) = self.choose_host(key, cluster) else {
            self.count_cluster(key, "upstream_cx_none_healthy");
            self.count_answer(key, 503);
            let mut reply = Reply::of_envoy(503, "no healthy upstream", "no_healthy_upstream");
            reply.flag = Some(Flag::NoHealthyUpstream);
            return self.local_reply(key, reply);
        };
        if !process.breakers().take_request(cluster) {
            self.count_cluster(key, "upstream_rq_pending_overflow");
            return self.reset_without_attempt(key, &Reset::Overflow);
        }
        self.numbers.upstream += 1;
        let id = UpstreamId(self.numbers.upstream);
        let filters = cluster
            .upstream_filters
            .iter()
            .filter_map(|plugin| self.new_filter(&version, plugin))
            .collect();
        let now = self.now;
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        let limits = (
            stream.chain.decode.limit_bytes,
            stream.chain.encode.limit_bytes,
        );
        stream.router.attempt = Some(id);
        stream.info.upstream_address = Some(address);
        stream.info.transport_failure = None;
        let chain = Chain::new(filters, limits.0, limits.1);
        self.attempts.insert(
            id,
            Attempt::new(key, cluster.name.clone(), address, chain, now),
        );
        self.commands.push(Command::OpenUpstream {
            upstream: id,
            stream: if let StreamKey::Client(stream) = key {
                Some(stream)
            } else {
                None
            },
            cluster: cluster.name.clone(),
            address,
            connect_timeout: cluster.connect_timeout,
            http2: cluster.http2,
            http1: cluster.http1,
        });
        self.feed_attempt(key, id);
    }

    /// The request as it is now goes through the attempt's filters: the shared head, a copy of the body.
    fn feed_attempt(&mut self, key: StreamKey, id: UpstreamId) {
        let Some(stream) = self.streams.get(&key) else {
            return;
        };
        let body = stream
            .chain
            .decode
            .buffer
            .clone()
            .filter(|_| stream.router.retry.is_some());
        let complete = stream.router.request_complete;
        // In the first attempt the body has not been handed to the router yet.
        let again = stream.info.attempts > 1;
        let body = body.filter(|_| again);
        let trailers = stream.chain.decode.trailers.clone();
        let trailers = trailers.filter(|_| again && complete);
        let end = complete && body.is_none() && trailers.is_none();
        if let Some(attempt) = self.attempts.get_mut(&id) {
            attempt.chain.decode.end_seen = end;
        }
        self.pass_headers(ChainKey::Attempt(id), Direction::Decode, 0, end);
        if let (Some(body), Some(attempt)) = (body, self.attempts.get_mut(&id)) {
            let end = complete && trailers.is_none();
            attempt.chain.decode.end_seen = end;
            let chain = ChainKey::Attempt(id);
            self.pass_data(chain, Direction::Decode, 0, Piece::Fresh(body), end);
        }
        if let Some(trailers) = trailers {
            self.attempt_trailers(id, trailers);
        }
    }

    /// No event of the attempt is wanted any more; its filters learn of the end later.
    pub(super) fn cancel_attempt(&mut self, id: UpstreamId) {
        let Some(attempt) = self.attempts.get_mut(&id) else {
            return;
        };
        attempt.cancelled = true;
        attempt.chain.decode.aborted = true;
        attempt.chain.encode.aborted = true;
        let timers = [attempt.per_try_timer.take(), attempt.idle_timer.take()];
        let over = std::mem::replace(&mut attempt.upstream_over, true);
        timers
            .into_iter()
            .for_each(|timer| self.timers.cancel(timer));
        if !over {
            self.commands.push(Command::CancelUpstream { upstream: id });
        }
    }

    /// The end of an attempt: `on_done` for its filters, its line in the log.
    pub(crate) fn finish_attempt(&mut self, id: UpstreamId) {
        self.cancel_attempt(id);
        let Some(attempt) = self.attempts.get(&id) else {
            return;
        };
        let (key, cluster) = (attempt.stream, attempt.cluster.clone());
        let connected = attempt.connected;
        self.process.breakers().give_request(&cluster);
        if connected {
            let mut stats = self.process.stats();
            stats.take(Scope::Cluster(&cluster), "upstream_rq_active", 1);
        }
        for index in 0..self
            .attempts
            .get(&id)
            .map_or(0, |attempt| attempt.chain.filters.len())
        {
            self.filter_done(ChainKey::Attempt(id), index);
        }
        self.log_attempt(id);
        self.attempts.remove(&id);
        if let Some(stream) = self.streams.get_mut(&key)
            && stream.router.attempt == Some(id)
        {
            stream.router.attempt = None;
        }
    }
}

impl Attempt {
    fn new(
        stream: StreamKey,
        cluster: String,
        address: SocketAddr,
        chain: Chain,
        started: Now,
    ) -> Self {
        Attempt {
            stream,
            cluster,
            address,
            chain,
            started,
            connected: false,
            head_ready: None,
            head_sent: false,
            waiting: Vec::new(),
            waiting_end: false,
            waiting_trailers: None,
            response_passed: false,
            upstream_over: false,
            cancelled: false,
            per_try_timer: None,
            idle_timer: None,
            status: 0,
            flags: Vec::new(),
            transport_failure: None,
            times: Times::default(),
            bytes_received: 0,
            bytes_sent: 0,
        }
    }
}
