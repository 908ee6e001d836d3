//! Each target in turn.

/// `count` targets from the one whose turn it is, around to the one before it, at most `most`.
///
/// The count of turns wraps at 2^32. Unless `count` divides that, the turns after the wrap start
/// over early: once in 2^32 requests some targets miss one turn. Nothing else is uneven.
pub(crate) fn order(count: usize, turn: u32, most: usize) -> Vec<usize> {
    let first = (turn as usize).checked_rem(count).unwrap_or(0);
    (first..count).chain(0..first).take(most).collect()
}
