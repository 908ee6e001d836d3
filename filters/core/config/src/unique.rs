//! Finds what stands twice in a list.

/// The places of two equal values, the earlier first. Sorts, because comparing each with each
/// would take seconds for a full table.
pub(crate) fn twice<T: Ord>(values: impl Iterator<Item = T>) -> Option<(usize, usize)> {
    let mut order: Vec<(T, usize)> = values.zip(0..).collect();
    order.sort_unstable();
    order.windows(2).find_map(|pair| match pair {
        [(left, first), (right, second)] if left == right => Some((*first, *second)),
        _ => None,
    })
}
