//! Each target in turn.

use super::Member;

/// From the one whose turn it is, around to the one before it.
///
/// The count of turns wraps at 2^32. Unless the number of members divides that, the turns after the
/// wrap start over early: once in 2^32 requests some miss one turn. Nothing else is uneven.
pub(super) fn order(mut group: Vec<Member<'_>>, turn: u32, most: usize) -> Vec<Member<'_>> {
    let first = (turn as usize).checked_rem(group.len()).unwrap_or(0);
    group.rotate_left(first);
    group.truncate(most);
    group
}
