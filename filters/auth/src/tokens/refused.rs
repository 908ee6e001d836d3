//! The tokens whose signature was found to be bad in this VM, by their digests.

use std::collections::{BTreeSet, VecDeque};

use crate::uploads::Digest;

/// Most tokens that are remembered: 64 bytes each, 32 KB in all. Clients that repeat themselves, as
/// after a key was changed, are few; against one who makes up a new signature each time no memory
/// helps.
pub(super) const MAX_REFUSED: usize = 512;

/// Bad tokens, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Refused {
    digests: BTreeSet<Digest>,
    order: VecDeque<Digest>,
}

impl Refused {
    pub(super) fn contains(&self, digest: &Digest) -> bool {
        self.digests.contains(digest)
    }

    /// Remembers one more; where there is no room the oldest is forgotten.
    pub(super) fn insert(&mut self, digest: Digest) {
        if !self.digests.insert(digest) {
            return;
        }
        self.order.push_back(digest);
        if self.order.len() > MAX_REFUSED
            && let Some(oldest) = self.order.pop_front()
        {
            self.digests.remove(&oldest);
        }
    }

    /// Forgets all: with other keys they may be good.
    pub(super) fn clear(&mut self) {
        self.digests.clear();
        self.order.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(number: usize) -> Digest {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&number.to_le_bytes());
        digest
    }

    #[test]
    fn the_latest_bad_tokens_are_remembered_until_keys_change() {
        let mut refused = Refused::default();
        for number in 0..MAX_REFUSED {
            refused.insert(digest(number));
            refused.insert(digest(number));
        }
        assert!(refused.contains(&digest(0)));
        refused.insert(digest(MAX_REFUSED));
        assert!(!refused.contains(&digest(0)));
        assert!(refused.contains(&digest(1)) && refused.contains(&digest(MAX_REFUSED)));
        assert_eq!(
            (refused.digests.len(), refused.order.len()),
            (MAX_REFUSED, MAX_REFUSED)
        );

        refused.clear();
        assert!(!refused.contains(&digest(1)));
    }
}
