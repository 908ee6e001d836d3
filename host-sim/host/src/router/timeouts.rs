//! Time-outs of a request and of its attempts.

use std::time::Duration;

use crate::config::Forward;
use crate::engine::Engine;
use crate::flags::Flag;
use crate::headers;
use crate::io::{Headers, UpstreamId};
use crate::local_reply::Reply;
use crate::router::Timeouts;
use crate::router::retry::Reset;
use crate::stream::StreamKey;
use crate::timers::Timer;

/// From the route and the request's headers, which are taken out. Unless Envoy's own headers are
/// suppressed the worker is told how long an attempt may take.
pub(super) fn read(request: &mut Headers, forward: &Forward, suppressed: bool) -> Timeouts {
    let milliseconds = |value: Option<String>| {
        value
            .and_then(|value| value.trim().parse().ok())
            .map(Duration::from_millis)
    };
    let some = |limit: Duration| (!limit.is_zero()).then_some(limit);
    let whole = milliseconds(headers::take(request, "x-envoy-upstream-rq-timeout-ms"));
    let per_try = milliseconds(headers::take(
        request,
        "x-envoy-upstream-rq-per-try-timeout-ms",
    ));
    headers::remove(request, b"x-envoy-upstream-rq-timeout-alt-response");
    headers::remove(request, b"x-envoy-upstream-stream-duration-ms");
    let whole = whole.map_or(forward.timeout, some);
    let per_try = per_try.map_or(forward.retry.per_try_timeout, some);
    let per_try = per_try.filter(|per_try| whole.is_none_or(|whole| *per_try < whole));
    if let Some(expected) = per_try.or(whole).filter(|_| !suppressed) {
        let text = expected.as_millis().to_string();
        headers::set(request, b"x-envoy-expected-rq-timeout-ms", text.as_bytes());
    }
    Timeouts {
        whole,
        per_try,
        per_try_idle: forward.retry.per_try_idle_timeout,
    }
}

impl Engine {
    pub(super) fn start_response_timer(&mut self, key: StreamKey) {
        let now = self.now.monotonic;
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        if stream.router.done || stream.router.response_timer.is_some() {
            return;
        }
        if let Some(limit) = stream.router.timeouts.whole {
            stream.router.response_timer = Some(self.timers.set(now + limit, Timer::Response(key)));
        }
    }

    /// An attempt has so long from the moment when the connection is there and the request complete.
    pub(super) fn start_per_try_timer(&mut self, id: UpstreamId) {
        let now = self.now.monotonic;
        let Some(attempt) = self.attempts.get_mut(&id) else {
            return;
        };
        let Some(stream) = self.streams.get(&attempt.stream) else {
            return;
        };
        let ready = attempt.connected && stream.router.request_complete && !attempt.response_passed;
        let Some(limit) = stream.router.timeouts.per_try.filter(|_| ready) else {
            return;
        };
        if attempt.per_try_timer.is_none() {
            attempt.per_try_timer = Some(self.timers.set(now + limit, Timer::PerTry(id)));
        }
    }

    /// Something moved in an attempt: its silence begins anew.
    pub(super) fn touch_attempt(&mut self, id: UpstreamId) {
        let now = self.now.monotonic;
        let Some(attempt) = self.attempts.get_mut(&id) else {
            return;
        };
        let limit = self
            .streams
            .get(&attempt.stream)
            .and_then(|stream| stream.router.timeouts.per_try_idle);
        let Some(limit) = limit.filter(|_| attempt.connected) else {
            return;
        };
        self.timers.cancel(attempt.idle_timer.take());
        attempt.idle_timer = Some(self.timers.set(now + limit, Timer::PerTryIdle(id)));
    }

    pub(crate) fn per_try_timeout(&mut self, id: UpstreamId) {
        self.attempt_timed_out(id, Flag::UpstreamRequestTimeout, "upstream_per_try_timeout");
    }

    pub(crate) fn per_try_idle_timeout(&mut self, id: UpstreamId) {
        self.attempt_timed_out(id, Flag::StreamIdleTimeout, "upstream_per_try_idle_timeout");
    }

    fn attempt_timed_out(&mut self, id: UpstreamId, flag: Flag, details: &str) {
        let Some(attempt) = self.attempts.get_mut(&id) else {
            return;
        };
        attempt.flags.push(flag);
        let key = attempt.stream;
        let name = match details {
            "upstream_per_try_idle_timeout" => "upstream_rq_per_try_idle_timeout",
            _ => "upstream_rq_per_try_timeout",
        };
        self.count_cluster(key, name);
        let retried = self.before_response(key) && self.try_again(key, id, &Reset::PerTryTimeout);
        if !retried {
            self.timeout_reply(key, details);
        }
    }

    pub(crate) fn response_timeout(&mut self, key: StreamKey) {
        if let Some(stream) = self.streams.get_mut(&key) {
            stream.router.response_timer = None;
            self.count_cluster(key, "upstream_rq_timeout");
            self.timeout_reply(key, "response_timeout");
        }
    }

    /// 504, or the end of a response that has begun.
    fn timeout_reply(&mut self, key: StreamKey, details: &str) {
        let begun = !self.before_response(key);
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        let attempt = stream.router.attempt;
        if let Some(id) = attempt {
            self.finish_attempt(id);
        }
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        stream.info.flag(Flag::UpstreamRequestTimeout);
        if begun {
            return self.break_off(key, details);
        }
        self.count_answer(key, 504);
        self.local_reply(
            key,
            Reply::of_envoy(504, "upstream request timeout", details),
        );
    }
}
