//! Workers that take one class of work only, and what background work may not cause.

use dragoman_contract::Class;

use crate::candidate::Candidate;
use crate::need::Need;
use crate::reason::Reason;

pub(super) fn objection(candidate: &Candidate, need: &Need) -> Option<Reason> {
    (!candidate.classes.has(need.class)).then_some(Reason::Class)
}

/// Whether a worker without the model is left out: background work waits for one that has it, if
/// there is any, be it at its cap.
pub(crate) fn is_spared_the_cold(need: &Need, any_is_warm: bool) -> bool {
    need.class == Class::Background && any_is_warm
}
