//! Workers that fail are left alone.

use dragoman_circuit::Admission;

use crate::candidate::Candidate;
use crate::reason::Reason;

pub(super) fn objection(candidate: &Candidate) -> Option<Reason> {
    matches!(candidate.admission, Admission::Open { .. }).then_some(Reason::Circuit)
}
