//! What is known of a request that has no answer to keep.

/// Statuses of a worker that are no final answer, so that the next request with the key is carried
/// out: those that say "try again", and those that speak of the gateway's own credential or of a
/// model that the worker does not have yet, which the client did nothing about and cannot mend.
const NOT_FINAL: [u16; 7] = [401, 403, 404, 407, 408, 425, 429];

/// What is known of the request when it is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    /// A whole answer came, from whoever.
    pub(crate) complete: bool,
    /// Id of the worker of the last attempt that began, if one did.
    pub(crate) worker: Option<&'a str>,
    /// The attempts that ended, as `worker=outcome,...`.
    pub(crate) trail: &'a str,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It was not carried out, or a worker said itself that it failed.
    Failed,
    /// It was sent to a worker, and nobody knows what that made of it.
    Unknown,
}

/// Whether a worker's answer with this status is final: the same request would get it again.
pub(crate) fn is_final(status: u16) -> bool {
    matches!(status, 200..=299 | 400..=499) && !NOT_FINAL.contains(&status)
}

/// Judges a request without an answer to keep.
pub(crate) fn ending(seen: Seen<'_>) -> Ending {
    let Some(worker) = seen.worker else {
        return Ending::Failed;
    };
    let mut last = None;
    for attempt in seen.trail.split(',') {
        let (name, outcome) = attempt.rsplit_once('=').unwrap_or_default();
        if !is_known(outcome) {
            return Ending::Unknown;
        }
        last = Some(name);
    }
    // When the client leaves, the attempt under way has not written its end yet.
    if seen.complete && last == Some(worker) {
        Ending::Failed
    } else {
        Ending::Unknown
    }
}

/// Whether the end of an attempt tells what the worker made of the request: it never got it, or
/// answered to the end.
fn is_known(outcome: &str) -> bool {
    let is_status = !outcome.is_empty() && outcome.bytes().all(|byte| byte.is_ascii_digit());
    outcome == "refused" || is_status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_and_the_clients_own_mistakes_are_final() {
        for status in [200, 201, 204, 299, 400, 409, 413, 422, 499] {
            assert!(is_final(status), "{status}");
        }
        for status in [
            0, 100, 199, 300, 304, 399, 401, 403, 404, 407, 408, 425, 429, 500, 502, 503, 504, 599,
        ] {
            assert!(!is_final(status), "{status}");
        }
    }

    #[test]
    fn only_what_no_worker_can_have_carried_out_counts_as_failed() {
        use Ending::{Failed, Unknown};
        let table: &[(bool, Option<&str>, &str, Ending)] = &[
            (true, None, "", Failed),
            (false, None, "", Failed),
            (true, Some("w1"), "w1=503", Failed),
            (true, Some("w1"), "w1=500", Failed),
            (true, Some("w2"), "w1=refused,w2=429", Failed),
            (true, Some("w2"), "w1=refused,w2=refused", Failed),
            (true, Some("w2"), "w1=reset,w2=503", Unknown),
            (true, Some("w2"), "w1=timeout,w2=refused", Unknown),
            (true, Some("w1"), "w1=reset", Unknown),
            (true, Some("w1"), "w1=timeout", Unknown),
            (false, Some("w1"), "w1=200:cut", Unknown),
            (false, Some("w1"), "w1=200", Unknown),
            (false, Some("w1"), "w1=client_gone", Unknown),
            (false, Some("w1"), "", Unknown),
            (true, Some("w1"), "", Unknown),
            (false, Some("w2"), "w1=503", Unknown),
            (true, Some("w2"), "w1=503", Unknown),
            (true, Some("w1"), "w1=", Unknown),
            (true, Some("w1"), "w1=anything new", Unknown),
        ];
        for (complete, worker, trail, expected) in table.iter().copied() {
            let seen = Seen {
                complete,
                worker,
                trail,
            };
            assert_eq!(ending(seen), expected, "{seen:?}");
        }
    }
}
