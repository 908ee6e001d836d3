//! Workers that drain or do not answer their probes are left alone.

use crate::candidate::Candidate;
use crate::reason::Reason;

pub(super) fn objection(candidate: &Candidate) -> Option<Reason> {
    (!candidate.ready).then_some(Reason::NotReady)
}
