//! What makes one request's order differ from the next one's, and numbers made of it.

/// What a strategy may go by besides the candidates: the same draw gives the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// A random number.
    pub random: u64,
    /// How many requests of the endpoint came before (`Strategy::turns`), with wrap-around.
    pub turn: u32,
    /// Stable hash of the caller.
    pub caller: u64,
}

/// Increment of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
/// 2014), like the two multipliers in [`mix`].
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// A sequence of random numbers from one.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        mix(self.0)
    }

    /// A number below `end`; 0 where there is none.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let point = scale(self.next(), u64::try_from(end).unwrap_or(u64::MAX));
        usize::try_from(point).unwrap_or(0)
    }
}

/// Every bit of the result depends on every bit of `value`; no two values give the same result.
pub(crate) const fn mix(value: u64) -> u64 {
    let mut mixed = value;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// A random number scaled down to `0..total`: the upper half of the 128-bit product. No value
/// is preferred by more than 1 in 2^64 / total.
pub(crate) fn scale(random: u64, total: u64) -> u64 {
    let product = u128::from(random) * u128::from(total);
    u64::try_from(product >> 64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    #[test]
    fn points_span_the_whole_total() {
        for total in [1, 100, u64::from(u32::MAX) * 64] {
            assert_eq!(scale(0, total), 0);
            assert_eq!(scale(u64::MAX, total), total - 1);
        }
        assert_eq!(scale(1 << 63, 100), 50);
        assert_eq!(scale((1 << 63) - 1, 100), 49);
    }

    #[test]
    fn the_sequence_is_that_of_the_reference() {
        let mut random = Random::new(1_234_567);
        let drawn: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }
}
