//! The choices of a seed.

/// A sequence that depends on its seed only (splitmix64).
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// Equal seeds give equal sequences.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Draw(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` to `high`, both included; `low` if `high` is below it.
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        match high.saturating_sub(low).checked_add(1) {
            Some(width) => low + self.number() % width,
            None => self.number(),
        }
    }

    /// The same for places in lists and other sizes.
    pub fn size(&mut self, low: usize, high: usize) -> usize {
        usize::try_from(self.range(low as u64, high as u64)).unwrap_or(low)
    }

    /// True this often of a hundred.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.number() % 100 < percent
    }

    /// One of a list; `None` only of an empty one.
    pub fn of<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        let place = self.size(0, list.len().saturating_sub(1));
        list.get(place)
    }

    /// One of a list that has at least one: the first if it had none other.
    pub fn pick<T: Copy>(&mut self, first: T, others: &[T]) -> T {
        match self.size(0, others.len()) {
            0 => first,
            place => others.get(place - 1).copied().unwrap_or(first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_their_range_and_reach_both_ends() {
        let mut draw = Draw::new(7);
        let drawn: std::collections::BTreeSet<u64> = (0..200).map(|_| draw.range(3, 6)).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [3, 4, 5, 6]);
        assert_eq!(draw.range(5, 5), 5);
        assert_eq!(draw.range(9, 2), 9);
    }
}
