//! What the end of an attempt means for the worker's circuit.

use dragoman_circuit::{Circuit, Rule, Ticket, Verdict, record, release};
use dragoman_contract::names::circuit_key;
use dragoman_sdk::HostResult;
use dragoman_sdk::host::{Cas, Clock, Shared};

use crate::outcome::Outcome;

/// How often a lost race for a circuit is run again. Every loss is another outcome that was
/// recorded; after this many the outcome of this attempt is left out, one among many.
const TRIES: usize = 8;

/// Whether an attempt speaks for or against its worker. A refusal of the request (4xx) does neither,
/// nor does a client that left.
pub(crate) fn verdict(end: Outcome) -> Option<Verdict> {
    match end {
        Outcome::Answered(200..=399) => Some(Verdict::Success),
        Outcome::Answered(500..) => Some(Verdict::Failure),
        Outcome::Answered(_) | Outcome::ClientGone => None,
        Outcome::Cut(_) | Outcome::Refused | Outcome::TimedOut | Outcome::Reset => {
            Some(Verdict::Failure)
        }
    }
}

/// Records the end of an attempt; `trial` if it was the one its circuit waited for.
///
/// # Errors
/// When shared data fails.
pub(crate) fn settle(
    cx: &mut (impl Shared + Clock),
    rule: &Rule,
    worker: &str,
    end: Outcome,
    trial: Option<Ticket>,
) -> HostResult<()> {
    let key = circuit_key(worker);
    let now_ms = u64::try_from(cx.monotonic().as_millis()).unwrap_or(u64::MAX);
    for _ in 0..TRIES {
        let (circuit, cas) = match cx.shared(&key)? {
            Some((bytes, cas)) => (Circuit::decode(&bytes), cas),
            None => (Circuit::decode(b""), Cas::ABSENT),
        };
        let next = match (verdict(end), trial) {
            (Some(verdict), trial) => record(rule, &circuit, now_ms, verdict, trial),
            (None, Some(trial)) => release(&circuit, now_ms, trial),
            (None, None) => None,
        };
        let Some(next) = next else { return Ok(()) };
        if cx.swap_shared(&key, &next.encode(), cas)? {
            return Ok(());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_at_fault() {
        for (end, expected) in [
            (Outcome::Answered(200), Some(Verdict::Success)),
            (Outcome::Answered(307), Some(Verdict::Success)),
            (Outcome::Answered(400), None),
            (Outcome::Answered(429), None),
            (Outcome::Answered(500), Some(Verdict::Failure)),
            (Outcome::Answered(503), Some(Verdict::Failure)),
            (Outcome::Answered(0), None),
            (Outcome::Cut(200), Some(Verdict::Failure)),
            (Outcome::Refused, Some(Verdict::Failure)),
            (Outcome::TimedOut, Some(Verdict::Failure)),
            (Outcome::Reset, Some(Verdict::Failure)),
            (Outcome::ClientGone, None),
        ] {
            assert_eq!(verdict(end), expected, "{end}");
        }
    }
}
