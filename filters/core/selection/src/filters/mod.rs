//! Who may be tried at all: one file for each filter, in the order in which they are asked. The
//! first that objects gives the reason.

mod cap;
mod capabilities;
mod circuit;
mod class;
mod permission;
mod readiness;

use crate::candidate::Candidate;
use crate::need::{Need, Policy};
use crate::reason::Reason;

/// Why a candidate cannot have the request whatever the others are; `None`: it can.
pub(crate) fn objection(candidate: &Candidate, need: &Need, policy: &Policy) -> Option<Reason> {
    circuit::objection(candidate)
        .or_else(|| readiness::objection(candidate))
        .or_else(|| permission::objection(candidate))
        .or_else(|| capabilities::objection(candidate, need))
        .or_else(|| class::objection(candidate, need))
        .or_else(|| cap::objection(candidate, need, policy))
}

pub(crate) use class::is_spared_the_cold;
