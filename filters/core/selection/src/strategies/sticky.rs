//! The same target for the same caller: rendezvous hashing (Thaler, Ravishankar: A Name-Based Mapping
//! Scheme for Rendezvous, 1996).

use super::{Member, smallest};
use crate::draw::mix;

/// By the hash of caller and worker together. It depends on nothing else, so every gateway gives the
/// same order, and a worker that leaves moves only the callers it had, each to its next one.
pub(super) fn order(group: Vec<Member<'_>>, caller: u64, most: usize) -> Vec<Member<'_>> {
    smallest(&group, 0, most, |member| {
        mix(mix(caller) ^ member.candidate.worker)
    })
}
