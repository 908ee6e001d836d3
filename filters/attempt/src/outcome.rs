//! How an attempt ended, by what the filter saw itself: Envoy's own words for it can be left over
//! from the attempt before.

use std::fmt;

/// An attempt that ends this much before its time-out still ended by it, in milliseconds. Envoy sets
/// its timer before the filter's clock starts, and counts from a clock that it reads once per round
/// of its event loop, so the filter sees less than the whole time go by.
const EARLY_MS: u32 = 50;
/// But never more than this part of the time-out, or a short one would swallow resets.
const EARLY_PART: u32 = 10;

/// The end of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A whole response with this status.
    Answered(u16),
    /// The response broke off after its head.
    Cut(u16),
    /// No connection.
    Refused,
    /// No response head within the time for it.
    TimedOut,
    /// The connection ended before the response began.
    Reset,
    /// The client left; nobody's fault.
    ClientGone,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered(status) => write!(f, "{status}"),
            Self::Cut(status) => write!(f, "{status}:cut"),
            Self::Refused => f.write_str("refused"),
            Self::TimedOut => f.write_str("timeout"),
            Self::Reset => f.write_str("reset"),
            Self::ClientGone => f.write_str("client_gone"),
        }
    }
}

/// What is known of an attempt that did not come to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// Status of the response head, if one came.
    pub status: Option<u16>,
    /// Envoy says that the client left.
    pub client_gone: bool,
    /// Envoy gives a reason why there was no connection.
    pub refused: bool,
    /// Since the attempt began, in milliseconds.
    pub elapsed_ms: u128,
    /// Time for the response head, in milliseconds.
    pub timeout_ms: u32,
}

/// Names the end of an attempt that did not come to its end.
pub(crate) fn outcome(seen: Seen) -> Outcome {
    match seen.status {
        _ if seen.client_gone => Outcome::ClientGone,
        Some(status) => Outcome::Cut(status),
        None if seen.refused => Outcome::Refused,
        None if seen.elapsed_ms >= u128::from(timed_out_from(seen.timeout_ms)) => Outcome::TimedOut,
        None => Outcome::Reset,
    }
}

/// The shortest attempt, in milliseconds, that may have ended by its time-out.
fn timed_out_from(timeout_ms: u32) -> u32 {
    timeout_ms.saturating_sub(EARLY_MS.min(timeout_ms / EARLY_PART))
}

/// The trail of a request: the attempts before, if there were any, and this one.
pub(crate) fn trail(before: &str, worker: &str, end: impl fmt::Display) -> String {
    if before.is_empty() {
        format!("{worker}={end}")
    } else {
        format!("{before},{worker}={end}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Seen = Seen {
        status: None,
        client_gone: false,
        refused: false,
        elapsed_ms: 10,
        timeout_ms: 1000,
    };

    #[test]
    fn an_end_is_named_by_what_was_seen() {
        let table = [
            (
                Seen {
                    status: Some(200),
                    ..NOTHING
                },
                "200:cut",
            ),
            (
                Seen {
                    status: Some(200),
                    client_gone: true,
                    ..NOTHING
                },
                "client_gone",
            ),
            (
                Seen {
                    client_gone: true,
                    elapsed_ms: 5000,
                    ..NOTHING
                },
                "client_gone",
            ),
            (
                Seen {
                    refused: true,
                    elapsed_ms: 5000,
                    ..NOTHING
                },
                "refused",
            ),
            (
                Seen {
                    elapsed_ms: 1000,
                    ..NOTHING
                },
                "timeout",
            ),
            (
                Seen {
                    elapsed_ms: 949,
                    ..NOTHING
                },
                "reset",
            ),
        ];
        for (seen, expected) in table {
            assert_eq!(outcome(seen).to_string(), expected, "{seen:?}");
        }
    }

    #[test]
    fn a_time_out_is_known_though_envoys_clock_is_a_little_ahead() {
        for (timeout_ms, reset_ms, timeout_from_ms) in [
            (30_000, 29_949, 29_950),
            (1000, 949, 950),
            (500, 449, 450),
            (100, 89, 90),
            (9, 8, 9),
        ] {
            let after = |elapsed_ms| {
                outcome(Seen {
                    elapsed_ms,
                    timeout_ms,
                    ..NOTHING
                })
            };
            assert_eq!(after(reset_ms), Outcome::Reset, "{timeout_ms}");
            assert_eq!(after(timeout_from_ms), Outcome::TimedOut, "{timeout_ms}");
        }
    }

    #[test]
    fn the_trail_lists_the_attempts_in_order() {
        let first = trail("", "w1", Outcome::Answered(503));
        assert_eq!(trail(&first, "w2", Outcome::Refused), "w1=503,w2=refused");
    }
}
