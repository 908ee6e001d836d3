//! What a client is told when nobody may be tried: why, and when it is worth asking again.

use dragoman_circuit::Admission;
use dragoman_contract::{Class, Code};

use crate::candidate::Candidate;
use crate::need::{Need, Policy};
use crate::reason::Reason;

/// Longest time that is told, in seconds: what is known now says little about later.
pub const MAX_RETRY_AFTER_S: u32 = 300;
/// How many times as long background work is told to wait: those who wait come first.
const BACKGROUND_FACTOR: u32 = 3;
/// Time of a request at a worker where none is known, in milliseconds.
const USUAL_COMPLETION_MS: f32 = 1000.0;
/// When a worker that is not ready may be again, in milliseconds: about when it is asked next.
const NOT_READY_MS: u64 = 5000;

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What the client is told.
    pub code: Code,
    /// When to ask again, in seconds, 1 to [`MAX_RETRY_AFTER_S`]; `None`: the same request will be
    /// refused again.
    pub retry_after_s: Option<u32>,
}

/// The refusal of a request that nobody may be tried for. `removed` are all targets that were left
/// out; a target that is not among them waits for a trial that another request is making.
#[must_use]
pub fn refusal(
    candidates: &[Candidate],
    removed: &[(usize, Reason)],
    need: &Need,
    policy: &Policy,
) -> Refusal {
    let any = |reasons: &[Reason]| removed.iter().any(|(_, why)| reasons.contains(why));
    let code = if any(&[Reason::Full, Reason::Cold]) {
        Code::Overloaded
    } else if any(&[Reason::Circuit, Reason::NotReady]) || removed.len() < candidates.len() {
        Code::NoBackendAvailable
    } else if any(&[Reason::ContextLength]) {
        Code::ContextLengthExceeded
    } else if any(&[Reason::Tools]) {
        Code::ToolsNotSupported
    } else {
        Code::NoCapacity
    };
    let soonest_ms = removed
        .iter()
        .filter_map(|(index, why)| back_in_ms(candidates.get(*index)?, *why, need, policy))
        .min();
    let seconds = |ms: u64| u32::try_from(ms.div_ceil(1000)).unwrap_or(u32::MAX);
    let usual_s = code.retry_after_s();
    let retry_after_s = usual_s.map(|usual_s| {
        let wait_s = soonest_ms.map_or(usual_s, seconds);
        let factor = match need.class {
            Class::Interactive => 1,
            Class::Background => BACKGROUND_FACTOR,
        };
        wait_s
            .saturating_mul(factor)
            .clamp(factor, MAX_RETRY_AFTER_S)
    });
    Refusal {
        code,
        retry_after_s,
    }
}

/// In how many milliseconds a target may take requests again, as far as that can be told.
fn back_in_ms(candidate: &Candidate, why: Reason, need: &Need, policy: &Policy) -> Option<u64> {
    match (why, candidate.admission) {
        (Reason::Circuit, Admission::Open { retry_after_ms }) => Some(retry_after_ms),
        (Reason::NotReady, _) => Some(NOT_READY_MS),
        (Reason::Full, _) => Some(drained_in_ms(candidate, need, policy)),
        _ => None,
    }
}

/// When a worker has room again: its requests, each of which takes the usual time, end evenly
/// spread, one every so often; so many have to.
fn drained_in_ms(candidate: &Candidate, need: &Need, policy: &Policy) -> u64 {
    let room = candidate.room(need.class, policy.background_percent);
    let too_many = candidate
        .in_flight
        .saturating_sub(room.unwrap_or(u32::MAX))
        .saturating_add(1);
    let each_ms = candidate.completion_ms.unwrap_or(USUAL_COMPLETION_MS);
    let ms = each_ms * too_many as f32 / candidate.in_flight.max(1) as f32;
    // A number that is none, or is negative, becomes 0.
    ms as u64
}
