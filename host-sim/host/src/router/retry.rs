//! Which failures are tried again, how often, and after which wait.

use std::time::Duration;

use crate::config::{Cluster, RetryPolicy};
use crate::headers;
use crate::io::{Headers, ResetReason};
use crate::process::Process;
use crate::random::Random;

/// Envoy's `retry_back_off.base_interval`.
const DEFAULT_BASE_INTERVAL: Duration = Duration::from_millis(25);
/// Envoy's `max_interval` is ten times the base.
const DEFAULT_MAX_FACTOR: u32 = 10;
/// Envoy's `num_retries`.
const DEFAULT_RETRIES: u32 = 1;

/// Retries of one request.
#[derive(Clone, Debug)]
pub(crate) struct Retry {
    on: Conditions,
    statuses: Vec<u16>,
    pub(crate) remaining: u32,
    next_interval: Duration,
    max_interval: Duration,
    /// Cluster whose breaker counts a retry of ours.
    counted: Option<String>,
}

/// `retry_on`, as far as it is about what can happen here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Conditions {
    server_errors: bool,
    gateway_errors: bool,
    reset: bool,
    connect_failure: bool,
    refused_stream: bool,
    conflict: bool,
    statuses: bool,
    rate_limited: bool,
}

/// What comes of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Again, after this wait.
    Again(Duration),
    /// It is not one to be tried again.
    No,
    /// No attempt is left.
    Exhausted,
    /// The cluster has too many retries.
    Overflow,
}

impl Conditions {
    fn read(text: &str) -> Self {
        let mut on = Conditions::default();
        for word in text.split(',').map(str::trim) {
            match word {
                "5xx" => on.server_errors = true,
                "gateway-error" => on.gateway_errors = true,
                "reset" => on.reset = true,
                "connect-failure" => on.connect_failure = true,
                "refused-stream" => on.refused_stream = true,
                "retriable-4xx" => on.conflict = true,
                "retriable-status-codes" => on.statuses = true,
                "envoy-ratelimited" => on.rate_limited = true,
                _ => {}
            }
        }
        on
    }

    fn or(self, other: Self) -> Self {
        Conditions {
            server_errors: self.server_errors || other.server_errors,
            gateway_errors: self.gateway_errors || other.gateway_errors,
            reset: self.reset || other.reset,
            connect_failure: self.connect_failure || other.connect_failure,
            refused_stream: self.refused_stream || other.refused_stream,
            conflict: self.conflict || other.conflict,
            statuses: self.statuses || other.statuses,
            rate_limited: self.rate_limited || other.rate_limited,
        }
    }
}

impl Retry {
    /// From the route and the request's headers, which are taken out. `None` if nothing is retried.
    pub(crate) fn read(request: &mut Headers, policy: &RetryPolicy) -> Option<Self> {
        let on = headers::take(request, "x-envoy-retry-on").unwrap_or_default();
        let retries = headers::take(request, "x-envoy-max-retries");
        let statuses = headers::take(request, "x-envoy-retriable-status-codes").unwrap_or_default();
        for name in [
            "x-envoy-retry-grpc-on",
            "x-envoy-retriable-header-names",
            "x-envoy-hedge-on-per-try-timeout",
        ] {
            headers::remove(request, name.as_bytes());
        }
        let on = Conditions::read(&policy.retry_on).or(Conditions::read(&on));
        if on == Conditions::default() {
            return None;
        }
        let base = policy.base_interval.unwrap_or(DEFAULT_BASE_INTERVAL);
        Some(Retry {
            on,
            statuses: statuses
                .split(',')
                .filter_map(|status| status.trim().parse().ok())
                .collect(),
            remaining: retries
                .and_then(|retries| retries.trim().parse().ok())
                .or(policy.num_retries)
                .unwrap_or(DEFAULT_RETRIES),
            next_interval: base,
            max_interval: policy.max_interval.unwrap_or(base * DEFAULT_MAX_FACTOR),
            counted: None,
        })
    }

    /// Whether a response with this head is one to try again.
    fn wants_headers(&self, head: &Headers) -> bool {
        let status = headers::status(head);
        if headers::get(head, b"x-envoy-ratelimited").is_some() {
            return self.on.rate_limited;
        }
        (self.on.server_errors && (500..600).contains(&status))
            || (self.on.gateway_errors && (502..=504).contains(&status))
            || (self.on.conflict && status == 409)
            || (self.on.statuses && self.statuses.contains(&status))
    }

    fn wants_reset(&self, reset: &Reset) -> bool {
        let broke = self.on.server_errors || self.on.gateway_errors || self.on.reset;
        match reset {
            Reset::Overflow => false,
            Reset::PerTryTimeout => broke,
            Reset::Upstream(ResetReason::ConnectFailure(_) | ResetReason::ConnectTimeout) => {
                broke || self.on.connect_failure
            }
            Reset::Upstream(ResetReason::RemoteRefused) => broke || self.on.refused_stream,
            Reset::Upstream(_) => broke,
        }
    }

    pub(crate) fn after_headers(
        &mut self,
        head: &Headers,
        cluster: &Cluster,
        process: &Process,
        random: &mut Random,
    ) -> Decision {
        let wanted = self.wants_headers(head);
        self.decide(wanted, cluster, process, random)
    }

    pub(crate) fn after_reset(
        &mut self,
        reset: &Reset,
        cluster: &Cluster,
        process: &Process,
        random: &mut Random,
    ) -> Decision {
        let wanted = self.wants_reset(reset);
        self.decide(wanted, cluster, process, random)
    }

    fn decide(
        &mut self,
        wanted: bool,
        cluster: &Cluster,
        process: &Process,
        random: &mut Random,
    ) -> Decision {
        self.give_back_mut(process);
        if !wanted {
            return Decision::No;
        }
        if self.remaining == 0 {
            return Decision::Exhausted;
        }
        self.remaining -= 1;
        if !process.breakers().take_retry(cluster) {
            return Decision::Overflow;
        }
        self.counted = Some(cluster.name.clone());
        let wait = random.below(self.next_interval);
        self.next_interval = (self.next_interval * 2).min(self.max_interval);
        Decision::Again(wait)
    }

    fn give_back_mut(&mut self, process: &Process) {
        if let Some(cluster) = self.counted.take() {
            process.breakers().give_retry(&cluster);
        }
    }

    /// No more retries of this request.
    pub(crate) fn give_back(mut self, process: &Process) {
        self.give_back_mut(process);
    }
}

/// How an attempt ended without a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    Upstream(ResetReason),
    PerTryTimeout,
    /// The cluster has as many requests as it may.
    Overflow,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(lines: &[(&str, &str)]) -> Headers {
        lines
            .iter()
            .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()))
            .collect()
    }

    fn retry(on: &str) -> Retry {
        let mut headers = request(&[
            ("x-envoy-retry-on", on),
            ("x-envoy-retriable-status-codes", "429, 418"),
        ]);
        Retry::read(&mut headers, &RetryPolicy::default()).unwrap()
    }

    #[test]
    fn the_headers_of_the_request_are_read_and_taken_out() {
        let mut headers = request(&[
            ("x-envoy-retry-on", "5xx"),
            ("x-envoy-max-retries", "4"),
            ("accept", "a"),
        ]);
        let retry = Retry::read(&mut headers, &RetryPolicy::default()).unwrap();
        assert_eq!(retry.remaining, 4);
        assert_eq!(headers, request(&[("accept", "a")]));
    }

    #[test]
    fn without_a_condition_nothing_is_retried() {
        assert!(
            Retry::read(
                &mut request(&[("x-envoy-max-retries", "4")]),
                &RetryPolicy::default()
            )
            .is_none()
        );
    }

    #[test]
    fn each_condition_means_its_failures() {
        let refused = Reset::Upstream(ResetReason::ConnectFailure("refused".to_owned()));
        let closed = Reset::Upstream(ResetReason::ConnectionTermination);
        type Statuses = fn(u16) -> bool;
        let table: [(&str, Statuses, bool, bool); 6] = [
            ("5xx", |status| status >= 500, true, true),
            (
                "gateway-error",
                |status| matches!(status, 502..=504),
                true,
                true,
            ),
            ("reset", |_| false, true, true),
            ("connect-failure", |_| false, true, false),
            ("retriable-4xx", |status| status == 409, false, false),
            (
                "retriable-status-codes",
                |status| matches!(status, 418 | 429),
                false,
                false,
            ),
        ];
        for (on, statuses, refused_retried, closed_retried) in table {
            let retry = retry(on);
            for status in 400..600 {
                let head = request(&[(":status", &status.to_string())]);
                assert_eq!(
                    retry.wants_headers(&head),
                    statuses(status),
                    "{on} {status}"
                );
            }
            assert_eq!(retry.wants_reset(&refused), refused_retried, "{on}");
            assert_eq!(retry.wants_reset(&closed), closed_retried, "{on}");
            assert!(!retry.wants_reset(&Reset::Overflow), "{on}");
        }
    }

    #[test]
    fn an_answer_of_a_rate_limiter_is_retried_only_when_asked_for() {
        let head = request(&[(":status", "503"), ("x-envoy-ratelimited", "true")]);
        assert!(!retry("5xx").wants_headers(&head));
        assert!(retry("envoy-ratelimited").wants_headers(&head));
    }
}
