//! The tokens that were verified in this VM, by their digests.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use super::Verified;
use crate::uploads::Digest;

/// Most tokens that are remembered. Some 600 bytes each, 3 KiB at most (a token has no room for
/// more), so usually half a megabyte and never above 3; and far more callers than a thread serves
/// within the minutes that their tokens last.
pub(super) const MAX_REMEMBERED: usize = 1024;

/// Tokens that were verified, each until it expires.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    tokens: BTreeMap<Digest, Rc<Verified>>,
}

impl Remembered {
    /// The token of this digest, while it is valid. A clock that is set back is believed too.
    pub(super) fn get(&self, digest: &Digest, now: Duration) -> Option<Rc<Verified>> {
        let verified = self.tokens.get(digest)?;
        verified.window.holds(now).then(|| Rc::clone(verified))
    }

    /// Forgets the tokens of an issuer: with its other keys they may be good no more.
    pub(super) fn forget(&mut self, issuer: usize) {
        self.tokens.retain(|_, known| known.issuer != issuer);
    }

    /// Remembers one more. Where there is no room those go that have expired, and if that is not
    /// enough the one that expires next. The search costs little beside the verification before it.
    pub(super) fn insert(&mut self, digest: Digest, verified: Rc<Verified>, now: Duration) {
        if self.tokens.len() >= MAX_REMEMBERED {
            self.tokens.retain(|_, known| now < known.window.until);
        }
        if self.tokens.len() >= MAX_REMEMBERED {
            let next = self
                .tokens
                .iter()
                .min_by_key(|(_, known)| known.window.until);
            if let Some(digest) = next.map(|(digest, _)| *digest) {
                self.tokens.remove(&digest);
            }
        }
        self.tokens.insert(digest, verified);
    }
}

#[cfg(test)]
mod tests {
    use dragoman_config::Grant;
    use dragoman_contract::{Class, Scopes};
    use dragoman_token::Window;

    use super::*;

    const NOW: Duration = Duration::from_secs(1000);

    fn valid_until(seconds: u64) -> Rc<Verified> {
        Rc::new(Verified {
            issuer: 0,
            id: "i".to_owned(),
            grant: Grant {
                tenant: "t".to_owned(),
                app: "a".to_owned(),
                scopes: Scopes::none(),
                models: None,
                class: Class::Interactive,
                limits: None,
            },
            tenant: None,
            window: Window {
                from: Duration::from_secs(900),
                until: Duration::from_secs(seconds),
            },
            counted_by: [0; 32],
        })
    }

    fn digest(number: usize) -> Digest {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&number.to_le_bytes());
        digest
    }

    #[test]
    fn a_token_is_known_while_it_is_valid() {
        let mut known = Remembered::default();
        known.insert(digest(1), valid_until(1100), NOW);
        for (seconds, found) in [(899, false), (900, true), (1099, true), (1100, false)] {
            let now = Duration::from_secs(seconds);
            assert_eq!(known.get(&digest(1), now).is_some(), found, "{seconds}");
        }
        assert!(known.get(&digest(2), NOW).is_none());
    }

    #[test]
    fn a_full_memory_forgets_what_has_expired_and_then_what_expires_next() {
        let mut known = Remembered::default();
        for number in 0..MAX_REMEMBERED {
            known.insert(digest(number), valid_until(1100 + number as u64), NOW);
        }
        let holds = |known: &Remembered, number| known.tokens.contains_key(&digest(number));

        known.insert(digest(MAX_REMEMBERED), valid_until(5000), NOW);
        assert_eq!(known.tokens.len(), MAX_REMEMBERED);
        assert!(!holds(&known, 0) && holds(&known, 1));

        let later = Duration::from_secs(1110);
        known.insert(digest(MAX_REMEMBERED + 1), valid_until(5000), later);
        assert!(!holds(&known, 10) && holds(&known, 11));
        assert_eq!(known.tokens.len(), MAX_REMEMBERED - 9);
    }

    #[test]
    fn the_tokens_of_one_issuer_are_forgotten_together() {
        let mut known = Remembered::default();
        let of = |issuer| {
            let verified = Rc::into_inner(valid_until(1100)).unwrap();
            Rc::new(Verified { issuer, ..verified })
        };
        for number in 0..4 {
            known.insert(digest(number), of(number % 2), NOW);
        }
        known.forget(1);
        let left = (0..4).filter(|number| known.get(&digest(*number), NOW).is_some());
        assert_eq!(left.collect::<Vec<_>>(), [0, 2]);
    }

    #[test]
    fn a_token_that_is_verified_again_takes_no_more_room() {
        let mut known = Remembered::default();
        for _ in 0..3 {
            known.insert(digest(1), valid_until(1100), NOW);
        }
        assert_eq!(known.tokens.len(), 1);
    }
}
