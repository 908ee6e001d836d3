//! One worker's checks: what was found out, and when to ask again.

use std::time::Duration;

/// What is known of a worker, and when it is asked again.
#[derive(Debug, Default)]
pub(crate) struct Check {
    /// When to ask again; at once if never asked.
    pub due: Option<Duration>,
    /// A callout is under way.
    pub asking: bool,
    /// The last answer about readiness.
    pub ready: Option<bool>,
    /// The last model list.
    pub models: Option<Vec<String>>,
}

/// What a callout asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// Does it take requests?
    Ready,
    /// Which models does it have?
    Models,
}

/// A callout that is not answered yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    /// Index of the worker.
    pub worker: usize,
    pub question: Question,
}

/// Whether an answer to [`Question::Ready`] lets requests through. A worker that does not know the
/// path is alive and says nothing against requests; no answer at all is no.
pub(crate) fn is_ready(status: Option<u16>) -> bool {
    matches!(status, Some(200..=299 | 404 | 405 | 501))
}

/// The next time: the interval and up to a tenth more or less, so that the checks of many gateways
/// do not fall together. `random` is any number.
pub(crate) fn next(now: Duration, interval: Duration, random: u64) -> Duration {
    let thousandths = 900 + u32::try_from(random % 201).unwrap_or(100);
    now.saturating_add(interval.saturating_mul(thousandths) / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readiness_by_status() {
        for (status, ready) in [
            (Some(200), true),
            (Some(204), true),
            (Some(404), true),
            (Some(503), false),
            (Some(504), false),
            (Some(401), false),
            (Some(302), false),
            (None, false),
        ] {
            assert_eq!(is_ready(status), ready, "{status:?}");
        }
    }

    #[test]
    fn the_interval_varies_by_a_tenth() {
        let times: Vec<Duration> = (0..402)
            .map(|random| next(Duration::ZERO, Duration::from_secs(10), random))
            .collect();
        assert_eq!(times.iter().min(), Some(&Duration::from_secs(9)));
        assert_eq!(times.iter().max(), Some(&Duration::from_secs(11)));
    }
}
