//! What the end of an attempt means for the worker's circuit.

use dragoman_circuit::{Circuit, Rule, Ticket, Verdict, record, release};
use dragoman_sdk::host::{Clock, Level, millis};
use dragoman_sdk::{Done, HostResult};
use dragoman_slots::{Swap, swap};

use crate::outcome::Outcome;

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

/// Records the end of an attempt; `trial` if it was the one its circuit waited for. Where every race
/// for the circuit is lost, this outcome is left out, one among the many that were recorded.
///
/// # Errors
/// When shared data fails.
pub(crate) fn settle(
    cx: &mut Done<'_>,
    rule: &Rule,
    worker: &str,
    end: Outcome,
    trial: Option<Ticket>,
) -> HostResult<()> {
    let now_ms = millis(cx.monotonic());
    let changed = swap(cx, &Circuit::key(worker), |bytes| {
        let circuit = Circuit::decode(bytes);
        let next = match (verdict(end), trial) {
            (Some(verdict), trial) => record(rule, &circuit, now_ms, verdict, trial),
            (None, Some(trial)) => release(&circuit, now_ms, trial),
            (None, None) => None,
        };
        match next {
            Some(next) => Swap::Write(next.encode().to_vec(), change(&circuit, &next)),
            None => Swap::Keep(None),
        }
    })?;
    if let Some((level, word)) = changed.flatten() {
        cx.log(level, &format!("worker {worker}: circuit {word} ({end})"));
    }
    Ok(())
}

/// What an operator wants to read of a change.
fn change(before: &Circuit, after: &Circuit) -> Option<(Level, &'static str)> {
    match (before.is_closed(), after.is_closed()) {
        (true, false) => Some((Level::Warn, "open")),
        (false, true) => Some((Level::Info, "closed")),
        _ => None,
    }
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
