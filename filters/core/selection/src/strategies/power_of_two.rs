//! The better of two targets that are drawn at random (Mitzenmacher: The Power of Two Choices in
//! Randomized Load Balancing, 2001).

use super::least_latency::Usual;
use super::{Member, random};

/// Fewer requests in flight is better, then the shorter recent time. The other of the two comes
/// next, then the rest at random.
pub(super) fn order(group: Vec<Member<'_>>, draw: u64, most: usize) -> Vec<Member<'_>> {
    let usual = Usual::of(&group);
    let mut drawn = random::order(group, draw, most.max(2));
    if let [first, second, ..] = drawn.as_mut_slice() {
        let rank = |member: &Member<'_>| (member.candidate.in_flight, usual.cost(member));
        if rank(second) < rank(first) {
            std::mem::swap(first, second);
        }
    }
    drawn.truncate(most);
    drawn
}
