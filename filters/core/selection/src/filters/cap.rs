//! Workers with as many requests as they may have are left alone; for background work that is
//! earlier, so that it is refused first.

use crate::candidate::Candidate;
use crate::need::{Need, Policy};
use crate::reason::Reason;

pub(super) fn objection(candidate: &Candidate, need: &Need, policy: &Policy) -> Option<Reason> {
    let room = candidate.room(need.class, policy.background_percent)?;
    (candidate.in_flight >= room).then_some(Reason::Full)
}
