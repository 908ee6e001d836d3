//! What an attempt's end or answer means for the request.

use std::sync::Arc;
use std::time::Duration;

use crate::chain::{ChainKey, Direction, Piece};
use crate::engine::Engine;
use crate::flags::Flag;
use crate::headers;
use crate::io::{ResetReason, UpstreamId};
use crate::local_reply::Reply;
use crate::process::Process;
use crate::router::retry::{Decision, Reset};
use crate::router::route;
use crate::stats::Scope;
use crate::stream::{Response, Stream, StreamKey};
use crate::timers::Timer;

impl Engine {
    /// The response's head has passed the attempt's filters.
    pub(crate) fn upstream_headers(&mut self, id: UpstreamId, end: bool) {
        let process = Arc::clone(&self.process);
        let Some(attempt) = self.attempts.get_mut(&id) else {
            return;
        };
        let key = attempt.stream;
        let Some(mut head) = attempt.chain.response_headers.clone() else {
            return;
        };
        let timer = attempt.per_try_timer.take();
        attempt.response_passed = true;
        attempt.status = headers::status(&head);
        self.timers.cancel(timer);
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        let version = Arc::clone(&stream.version);
        let cluster = version.config.clusters.get(&stream.router.cluster);
        if let (Some(retry), Some(cluster)) = (stream.router.retry.as_mut(), cluster) {
            let decision = retry.after_headers(&head, cluster, &process, &mut self.random);
            count_decision(&process, stream, decision);
            match decision {
                Decision::Again(wait) => {
                    self.count_retried(key, headers::status(&head));
                    return self.schedule_retry(key, id, wait);
                }
                Decision::Overflow => stream.info.flag(Flag::UpstreamOverflow),
                Decision::Exhausted => stream.info.flag(Flag::UpstreamRetryLimitExceeded),
                Decision::No => {}
            }
        }
        if let Some(retry) = stream.router.retry.take() {
            retry.give_back(&process);
        }
        stream.router.response_started = true;
        self.count_answer(key, headers::status(&head));
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        stream.response = Response::InChain;
        stream.info.response_code = Some(headers::status(&head));
        let complete_at = stream.router.complete_at;
        if let Some(complete_at) = complete_at.filter(|_| !self.suppress_envoy_headers(key)) {
            let took = self
                .now
                .monotonic
                .saturating_sub(complete_at)
                .as_millis()
                .to_string();
            headers::set(&mut head, b"x-envoy-upstream-service-time", took.as_bytes());
        }
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        stream.chain.response_headers = Some(head);
        stream.chain.encode.end_seen = end;
        if end {
            self.attempt_complete(key, id);
        }
        self.touch(key);
        self.pass_headers(ChainKey::Stream(key), Direction::Encode, 0, end);
    }

    /// A piece of the response has passed the attempt's filters.
    pub(crate) fn upstream_data(&mut self, id: UpstreamId, piece: Piece, end: bool) {
        let Some(attempt) = self.attempts.get_mut(&id) else {
            return;
        };
        let key = attempt.stream;
        let data = match piece {
            Piece::Fresh(bytes) => bytes,
            Piece::Buffered => attempt.chain.encode.buffer.take().unwrap_or_default(),
        };
        attempt.bytes_received += data.len() as u64;
        if let Some(stream) = self.streams.get_mut(&key) {
            stream.chain.encode.end_seen |= end;
        }
        if end {
            self.attempt_complete(key, id);
        }
        self.touch(key);
        self.pass_data(
            ChainKey::Stream(key),
            Direction::Encode,
            0,
            Piece::Fresh(data),
            end,
        );
    }

    /// The response's trailers have passed the attempt's filters.
    pub(crate) fn upstream_trailers(&mut self, id: UpstreamId) {
        let Some(attempt) = self.attempts.get_mut(&id) else {
            return;
        };
        let key = attempt.stream;
        let trailers = attempt.chain.encode.trailers.clone();
        if let Some(stream) = self.streams.get_mut(&key) {
            stream.chain.encode.end_seen = true;
            stream.chain.encode.trailers = trailers;
        }
        self.attempt_complete(key, id);
        self.touch(key);
        self.pass_trailers(ChainKey::Stream(key), Direction::Encode, 0);
    }

    fn attempt_complete(&mut self, key: StreamKey, id: UpstreamId) {
        if let Some(stream) = self.streams.get_mut(&key) {
            let timer = stream.router.response_timer.take();
            self.timers.cancel(timer);
        }
        self.finish_attempt(id);
    }

    pub(crate) fn upstream_reset(&mut self, id: UpstreamId, reason: &ResetReason) {
        let Some(attempt) = self.running(id) else {
            return;
        };
        let key = attempt.stream;
        attempt.upstream_over = true;
        attempt.flags.push(flag_of(reason));
        if let ResetReason::ConnectFailure(text) = reason {
            attempt.transport_failure = Some(text.clone());
            if let Some(stream) = self.streams.get_mut(&key) {
                stream.info.transport_failure = Some(text.clone());
            }
        }
        let reset = Reset::Upstream(reason.clone());
        let before = self.before_response(key);
        if before && self.try_again(key, id, &reset) {
            return;
        }
        self.finish_attempt(id);
        self.answer_reset(key, &reset, before);
    }

    /// A reset for which no attempt was begun.
    pub(super) fn reset_without_attempt(&mut self, key: StreamKey, reset: &Reset) {
        self.answer_reset(key, reset, true);
    }

    /// Whether a broken attempt is tried again; if so it is finished.
    pub(super) fn try_again(&mut self, key: StreamKey, id: UpstreamId, reset: &Reset) -> bool {
        let process = Arc::clone(&self.process);
        let Some(stream) = self.streams.get_mut(&key) else {
            return false;
        };
        let version = Arc::clone(&stream.version);
        let cluster = version.config.clusters.get(&stream.router.cluster);
        let (Some(retry), Some(cluster)) = (stream.router.retry.as_mut(), cluster) else {
            return false;
        };
        let decision = retry.after_reset(reset, cluster, &process, &mut self.random);
        count_decision(&process, stream, decision);
        match decision {
            Decision::Again(wait) => {
                self.schedule_retry(key, id, wait);
                return true;
            }
            Decision::Overflow => stream.info.flag(Flag::UpstreamOverflow),
            Decision::Exhausted => stream.info.flag(Flag::UpstreamRetryLimitExceeded),
            Decision::No => {}
        }
        false
    }

    fn schedule_retry(&mut self, key: StreamKey, id: UpstreamId, wait: Duration) {
        self.finish_attempt(id);
        let at = self.now.monotonic + wait;
        if let Some(stream) = self
            .streams
            .get_mut(&key)
            .filter(|stream| !stream.router.done)
        {
            stream.router.retry_timer = Some(self.timers.set(at, Timer::Retry(key)));
        }
    }

    /// The wait is over: perhaps another cluster, then the next attempt.
    pub(crate) fn retry_due(&mut self, key: StreamKey) {
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        let version = Arc::clone(&stream.version);
        stream.router.retry_timer = None;
        if let Some(forward) = stream
            .router
            .forward
            .clone()
            .filter(|forward| forward.retry.refresh_cluster_on_retry)
        {
            let name = route::cluster_name(&forward.cluster, &stream.request_headers);
            if let Some(name) = name.filter(|name| version.config.clusters.contains_key(name)) {
                stream.info.upstream_cluster = Some(name.clone());
                stream.router.cluster = name;
            }
        }
        self.start_attempt(key);
    }

    /// 503 or 502 in Envoy's words, or the end of a response that has begun.
    fn answer_reset(&mut self, key: StreamKey, reset: &Reset, before: bool) {
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        let (reason, flag) = match reset {
            Reset::Upstream(reason) => (text_of(reason), flag_of(reason)),
            Reset::Overflow => ("overflow", Flag::UpstreamOverflow),
            Reset::PerTryTimeout => ("local reset", Flag::UpstreamRequestTimeout),
        };
        stream.info.flag(flag);
        let detail = match reset {
            Reset::Upstream(ResetReason::ConnectFailure(text)) => format!("{reason}|{text}"),
            _ => reason.to_owned(),
        };
        let detail = detail.replace(' ', "_");
        if !before {
            return self.break_off(
                key,
                &format!("upstream_reset_after_response_started{{{detail}}}"),
            );
        }
        let retried = if stream.info.attempts > 1 {
            "retried and the latest "
        } else {
            ""
        };
        let body = format!(
            "upstream connect error or disconnect/reset before headers. {retried}reset reason: {reason}"
        );
        let status = if *reset == Reset::Upstream(ResetReason::ProtocolError) {
            502
        } else {
            503
        };
        self.count_answer(key, status);
        let details = format!("upstream_reset_before_response_started{{{detail}}}");
        let mut reply = Reply::of_envoy(status, &body, &details);
        if *reset == Reset::Overflow && !self.suppress_envoy_headers(key) {
            reply
                .headers
                .push((b"x-envoy-overloaded".to_vec(), b"true".to_vec()));
        }
        self.local_reply(key, reply);
    }
}

/// Counts what is done about a failed attempt, or that an earlier retry helped.
fn count_decision(process: &Process, stream: &Stream, decision: Decision) {
    let names: &[&'static str] = match decision {
        Decision::Again(_) => &["upstream_rq_retry", "upstream_rq_retry_backoff_exponential"],
        Decision::Overflow => &["upstream_rq_retry_overflow"],
        Decision::Exhausted => &["upstream_rq_retry_limit_exceeded"],
        Decision::No => &["upstream_rq_retry_success"],
    };
    let retried = stream.info.attempts > 1;
    let mut stats = process.stats();
    if decision != Decision::No || retried {
        for name in names {
            stats.add(Scope::Cluster(&stream.router.cluster), name, 1);
        }
    }
}

fn text_of(reason: &ResetReason) -> &'static str {
    match reason {
        ResetReason::ConnectFailure(_) => "remote connection failure",
        ResetReason::ConnectTimeout => "connection timeout",
        ResetReason::ConnectionTermination => "connection termination",
        ResetReason::ProtocolError => "protocol error",
        ResetReason::RemoteReset => "remote reset",
        ResetReason::RemoteRefused => "remote refused stream reset",
    }
}

fn flag_of(reason: &ResetReason) -> Flag {
    match reason {
        ResetReason::ConnectFailure(_) | ResetReason::ConnectTimeout => {
            Flag::UpstreamConnectionFailure
        }
        ResetReason::ConnectionTermination => Flag::UpstreamConnectionTermination,
        ResetReason::ProtocolError => Flag::UpstreamProtocolError,
        ResetReason::RemoteReset | ResetReason::RemoteRefused => Flag::UpstreamRemoteReset,
    }
}
