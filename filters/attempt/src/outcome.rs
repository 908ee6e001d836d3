//! How an attempt ended, by what the filter saw itself: Envoy's own words for it can be left over
//! from the attempt before.

use std::fmt;

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
        None if seen.elapsed_ms >= u128::from(seen.timeout_ms) => Outcome::TimedOut,
        None => Outcome::Reset,
    }
}

/// Adds an attempt to the trail of the request, or replaces this attempt's own entry.
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
                    elapsed_ms: 999,
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
    fn the_trail_lists_the_attempts_in_order() {
        let first = trail("", "w1", Outcome::Answered(503));
        assert_eq!(trail(&first, "w2", Outcome::Refused), "w1=503,w2=refused");
    }
}
