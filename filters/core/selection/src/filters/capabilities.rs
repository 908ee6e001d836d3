//! What the request needs, the worker must be able to do.

use crate::candidate::Candidate;
use crate::need::Need;
use crate::reason::Reason;

pub(super) fn objection(candidate: &Candidate, need: &Need) -> Option<Reason> {
    if candidate
        .context_tokens
        .is_some_and(|most| need.tokens > most)
    {
        return Some(Reason::ContextLength);
    }
    (need.tools && !candidate.tools).then_some(Reason::Tools)
}
