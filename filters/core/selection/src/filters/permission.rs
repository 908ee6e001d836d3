//! A worker may be reserved for some tenants, and a tenant's data may have to stay in some regions.

use crate::candidate::Candidate;
use crate::reason::Reason;

pub(super) fn objection(candidate: &Candidate) -> Option<Reason> {
    (!candidate.permitted).then_some(Reason::NotPermitted)
}
