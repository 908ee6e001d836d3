//! One table: where its buckets are, and which of them has a key.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::bounds::{KEYS_PER_BUCKET, MAX_BUCKET_BITS};

/// SHA-256 of a key.
pub type Digest = [u8; 32];

/// A random number of the process that places keys: whoever chooses keys cannot choose buckets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt(pub [u8; 16]);

impl fmt::Debug for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Salt(..)")
    }
}

/// A table: its id, its area and how its keys are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Later tables have larger ones; none is given twice in a process.
    pub id: u64,
    /// Which of the two areas its buckets are in.
    pub(crate) second_area: bool,
    /// It has two to the power of this many buckets, at most [`MAX_BUCKET_BITS`].
    pub(crate) bits: u8,
    pub(crate) salt: Salt,
}

impl Table {
    /// Number of buckets.
    #[must_use]
    pub fn buckets(&self) -> u32 {
        1 << self.bits
    }

    /// The bucket of a key.
    #[must_use]
    pub fn bucket_of(&self, digest: &Digest) -> u32 {
        let hash = Sha256::new()
            .chain_update(self.salt.0)
            .chain_update(digest)
            .finalize();
        let first = hash.first_chunk().copied().map_or(0, u32::from_le_bytes);
        first & (self.buckets() - 1)
    }

    /// Key of a bucket in shared data.
    #[must_use]
    pub fn bucket_key(&self, bucket: u32) -> String {
        let area = if self.second_area { 'b' } else { 'a' };
        format!("dragoman/1/keys/{area}/{bucket}")
    }
}

/// As many buckets as this number of keys needs, as a power of two; without a number the most.
pub(crate) fn bits(keys: Option<u32>) -> u8 {
    let Some(keys) = keys else {
        return MAX_BUCKET_BITS;
    };
    let buckets = keys.div_ceil(KEYS_PER_BUCKET).max(1);
    let bits = u32::BITS - (buckets - 1).leading_zeros();
    u8::try_from(bits).unwrap_or(u8::MAX).min(MAX_BUCKET_BITS)
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;
    use crate::bounds::MAX_KEYS;

    #[test]
    fn a_bucket_has_eight_keys_on_average_at_most() {
        for (keys, buckets) in [
            (Some(0), 1),
            (Some(1), 1),
            (Some(8), 1),
            (Some(9), 2),
            (Some(16), 2),
            (Some(17), 4),
            (Some(1024), 128),
            (Some(MAX_KEYS), 16_384),
            (Some(u32::MAX), 16_384),
            (None, 16_384),
        ] {
            assert_eq!(1 << bits(keys), buckets, "{keys:?}");
        }
    }
}
