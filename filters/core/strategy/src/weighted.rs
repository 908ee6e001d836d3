//! At random, in proportion to the weights.

/// Increment of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
/// 2014), like the two multipliers in [`next`].
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// Draws targets without putting them back, each draw in proportion to the weights of those that
/// are left. So when the first target fails, its share is split among the others by their
/// weights. A target of weight 0 is never drawn.
pub(crate) fn order(weights: &[u32], random: u64, most: usize) -> Vec<usize> {
    let mut left: Vec<(usize, u64)> = weights
        .iter()
        .enumerate()
        .filter(|(_, weight)| **weight > 0)
        .map(|(index, weight)| (index, u64::from(*weight)))
        .collect();
    let mut state = random;
    let mut out = Vec::with_capacity(left.len().min(most));
    while !left.is_empty() && out.len() < most {
        let total = left.iter().map(|(_, weight)| weight).sum();
        let place = pick(&left, point(next(&mut state), total));
        let (index, _) = left.remove(place);
        out.push(index);
    }
    out
}

/// The place whose share of `0..total` holds this point.
fn pick(left: &[(usize, u64)], point: u64) -> usize {
    let mut end = 0;
    let holds = |(_, weight): &(usize, u64)| {
        end += weight;
        point < end
    };
    // A point below the total is always held by one; the last place stands for it otherwise.
    left.iter()
        .position(holds)
        .unwrap_or(left.len().saturating_sub(1))
}

/// A random number scaled down to `0..total`: the upper half of the 128-bit product. No value
/// is preferred by more than 1 in 2^64 / total.
fn point(random: u64, total: u64) -> u64 {
    let product = u128::from(random) * u128::from(total);
    u64::try_from(product >> 64).unwrap_or(0)
}

/// The next random number of a SplitMix64 sequence.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(GAMMA);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    #[test]
    fn every_point_belongs_to_exactly_the_share_of_its_weight() {
        let left = [(7, 80), (3, 1), (9, 20)];
        let mut counts = [0; 3];
        for point in 0..101 {
            counts[pick(&left, point)] += 1;
        }
        assert_eq!(counts, [80, 1, 20]);
    }

    #[test]
    fn points_span_the_whole_total() {
        for total in [1, 100, u64::from(u32::MAX) * 64] {
            assert_eq!(point(0, total), 0);
            assert_eq!(point(u64::MAX, total), total - 1);
        }
        assert_eq!(point(1 << 63, 100), 50);
        assert_eq!(point((1 << 63) - 1, 100), 49);
    }

    #[test]
    fn the_sequence_is_that_of_the_reference() {
        let mut state = 1_234_567;
        let drawn: Vec<u64> = (0..3).map(|_| next(&mut state)).collect();
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
