//! The secret that decides which slot a record goes to.

use sha2::{Digest, Sha256};

use crate::bytes::Reader;
use crate::shared::{SharedData, Swap, swap};

const KEY: &str = "dragoman/1/salt";
const VERSION: u8 = 1;

/// A random number that all threads of a process share. Clients choose some keys; without it they
/// could choose many that fall into one slot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt([u8; 16]);

impl std::fmt::Debug for Salt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Salt(..)")
    }
}

impl Salt {
    /// The salt of this process: the one in shared data or, where there is none yet, `random`. All
    /// callers get the same. `None`: the record is of another layout, or the bounded attempts were
    /// lost; without a salt no record can be found, so the caller must not go on.
    ///
    /// # Errors
    /// When the host fails.
    pub fn agree<S: SharedData>(
        shared: &mut S,
        random: [u8; 16],
    ) -> Result<Option<Self>, S::Error> {
        let agreed = swap(shared, KEY, |bytes| {
            if bytes.is_empty() {
                let record = [&[VERSION], random.as_slice()].concat();
                return Swap::Write(record, Some(Self(random)));
            }
            Swap::Keep(read(bytes))
        })?;
        Ok(agreed.flatten())
    }

    /// 64 bits that nobody without the salt can foretell: the first of SHA-256 over salt and
    /// `bytes`. For a digest that is one block, about 0.15 µs.
    pub(crate) fn hash(&self, bytes: &[u8]) -> u64 {
        let digest = Sha256::new()
            .chain_update(self.0)
            .chain_update(bytes)
            .finalize();
        digest.first_chunk().copied().map_or(0, u64::from_le_bytes)
    }

    /// One of `0..count` (0 counts as 1).
    pub(crate) fn pick(&self, bytes: &[u8], count: u32) -> u32 {
        let place = self.hash(bytes).checked_rem(u64::from(count)).unwrap_or(0);
        u32::try_from(place).unwrap_or(0)
    }
}

fn read(bytes: &[u8]) -> Option<Salt> {
    let mut input = Reader::new(bytes);
    if input.u8()? != VERSION {
        return None;
    }
    let salt = Salt(*input.array()?);
    input.rest().is_empty().then_some(salt)
}
