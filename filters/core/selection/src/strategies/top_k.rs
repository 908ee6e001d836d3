//! One of the targets with the fewest requests in flight, drawn at random.

use super::{Member, TopK, random, smallest, somewhere};

/// The first is drawn from the `k` with the fewest requests of which each has at most `epsilon` more
/// than the least; then come the others by their requests.
pub(super) fn order<'a>(
    group: Vec<Member<'a>>,
    top: TopK,
    draw: u64,
    most: usize,
) -> Vec<Member<'a>> {
    let k = usize::try_from(top.k).unwrap_or(usize::MAX).max(1);
    let requests = |member: &Member<'a>| member.candidate.in_flight;
    let least = smallest(&group, somewhere(&group, draw), k.max(most), requests);
    let bound = least
        .first()
        .map_or(0, requests)
        .saturating_add(top.epsilon);
    let (near, far): (Vec<_>, Vec<_>) = least
        .into_iter()
        .enumerate()
        .partition(|(place, member)| *place < k && requests(member) <= bound);
    let members = |part: Vec<(usize, Member<'a>)>| part.into_iter().map(|(_, member)| member);
    let near: Vec<_> = members(near).collect();
    let count = near.len();
    let mut out = random::order(near, draw, count);
    out.extend(members(far));
    out.truncate(most);
    out
}
