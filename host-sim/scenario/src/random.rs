//! The numbers that decide which of two things at the same moment comes first.

/// A sequence that depends on its seed only (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Equal seeds give equal sequences.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A place in a list of this length; 0 for an empty one.
    pub fn below(&mut self, length: usize) -> usize {
        let length = length.max(1) as u64;
        usize::try_from(self.next() % length).unwrap_or_default()
    }
}
