//! The target with the fewest requests in flight.

use super::{Member, smallest, somewhere};

/// Of several with as few, one at random: threads that look at the same moment do not all take
/// the same one.
pub(super) fn order(group: Vec<Member<'_>>, random: u64, most: usize) -> Vec<Member<'_>> {
    smallest(&group, somewhere(&group, random), most, |member| {
        member.candidate.in_flight
    })
}
