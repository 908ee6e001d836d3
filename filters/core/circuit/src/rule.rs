//! When a circuit opens, who may try the worker, and when it closes.

use crate::state::{Circuit, Phase, Ticket};

/// How many failures in a row open a circuit, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Failures in a row that open it; 0 counts as 1.
    pub threshold: u32,
    /// How long nobody is sent to the worker then.
    pub cooldown_ms: u64,
}

/// Whether a request may be sent to the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It may.
    Closed,
    /// It may, as the only one, if this circuit can be stored in place of the one it was made
    /// from (compare-and-swap).
    Trial {
        /// To be stored.
        circuit: Circuit,
        /// To be handed to [`record`] or [`release`].
        ticket: Ticket,
    },
    /// It may not.
    Open {
        /// Time until it is worth asking again, at least 1.
        retry_after_ms: u64,
    },
}

/// How a request to the worker ended. A client that left is neither: it is not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The worker answered.
    Success,
    /// The worker is at fault.
    Failure,
}

/// Whether a request may be sent at `now_ms` of a monotonic clock.
///
/// `trial_lease_ms` is how long a trial that begins now may go without an outcome before another
/// request may try: longer than a request takes, or there are two at a time; 0 counts as 1.
#[must_use]
pub fn admits(circuit: &Circuit, now_ms: u64, trial_lease_ms: u64) -> Admission {
    let closed_until_ms = match circuit.phase {
        Phase::Closed { .. } => return Admission::Closed,
        Phase::Open { until_ms } => until_ms,
        Phase::Trial { lease_until_ms } => lease_until_ms,
    };
    if let Some(retry_after_ms) = closed_until_ms.checked_sub(now_ms).filter(|ms| *ms > 0) {
        return Admission::Open { retry_after_ms };
    }
    let ticket = circuit.ticket.next();
    let lease_until_ms = now_ms.saturating_add(trial_lease_ms.max(1));
    let phase = Phase::Trial { lease_until_ms };
    let circuit = Circuit { phase, ticket };
    Admission::Trial { circuit, ticket }
}

/// The circuit after an outcome, to be stored by compare-and-swap. `None`: it stays as it is, as
/// after most successes.
///
/// `trial` is the ticket of a request that was admitted as a trial. While a circuit is not
/// closed, only the latest trial counts: requests that were sent before it opened tell nothing
/// new, and neither does a trial that was given up.
#[must_use]
pub fn record(
    rule: &Rule,
    circuit: &Circuit,
    now_ms: u64,
    verdict: Verdict,
    trial: Option<Ticket>,
) -> Option<Circuit> {
    let failures = match circuit.phase {
        Phase::Closed { failures } => failures,
        Phase::Trial { .. } if trial == Some(circuit.ticket) => rule.threshold,
        Phase::Trial { .. } | Phase::Open { .. } => return None,
    };
    let failures = match verdict {
        Verdict::Success => 0,
        Verdict::Failure => failures.saturating_add(1),
    };
    let phase = if failures >= rule.threshold.max(1) {
        let until_ms = now_ms.saturating_add(rule.cooldown_ms);
        Phase::Open { until_ms }
    } else {
        Phase::Closed { failures }
    };
    let ticket = circuit.ticket;
    let after = Circuit { phase, ticket };
    (after != *circuit).then_some(after)
}

/// The circuit after a trial that told nothing, because it was not sent or its client left: the
/// next request may try. `None`: it stays as it is, because another trial is under way or over.
#[must_use]
pub fn release(circuit: &Circuit, now_ms: u64, trial: Ticket) -> Option<Circuit> {
    let is_running = matches!(circuit.phase, Phase::Trial { .. });
    (is_running && circuit.ticket == trial).then_some(Circuit {
        phase: Phase::Open { until_ms: now_ms },
        ticket: trial,
    })
}
