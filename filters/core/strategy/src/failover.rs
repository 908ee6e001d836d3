//! The first target as long as it works, then the second, and so on.

/// The first `most` of `count` targets.
pub(crate) fn order(count: usize, most: usize) -> Vec<usize> {
    (0..count.min(most)).collect()
}
