//! The keys that an issuer publishes, which `poll` reads (`dragoman-issuers`).

use dragoman_config::{KeySetSource, TokenIssuer};
use dragoman_issuers::{Looker, Origin, Seen};
use dragoman_sdk::host::Level;
use dragoman_sdk::{HostResult, RequestHeaders};
use dragoman_token::{KeptKeys, KeySet};

/// An issuer's published keys, as one thread sees them.
#[derive(Debug)]
pub(super) struct Published {
    id: String,
    looker: Looker,
    /// The keys that the document gives, which go before published ones of the same id.
    fixed: KeySet,
    is_ready: bool,
}

impl Published {
    /// Of an issuer that publishes them there.
    pub(super) fn new(issuer: &TokenIssuer, from: &KeySetSource, fixed: KeySet) -> Self {
        let origin = Origin::of(&[&issuer.issuer, &from.place()]);
        Self {
            id: issuer.id.clone(),
            looker: Looker::new(&issuer.id, origin),
            fixed,
            is_ready: false,
        }
    }

    /// Whether any were read.
    pub(super) fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// All keys of the issuer, if they are others now. Looks once a second.
    pub(super) fn keys(
        &mut self,
        cx: &mut RequestHeaders<'_>,
        now_ms: u64,
    ) -> HostResult<Option<KeySet>> {
        let Seen::Changed(bytes) = self.looker.look(cx, now_ms)? else {
            return Ok(None);
        };
        let kept = KeptKeys::decode(&bytes);
        let keys = kept.and_then(|kept| self.fixed.with_published(&kept).ok());
        match keys {
            Some(_) => self.is_ready = true,
            // `poll` checks what it publishes, so this is another version's.
            None => cx.log(
                Level::Error,
                &format!(
                    "issuer {}: published keys that cannot be read: restart the gateway",
                    self.id
                ),
            ),
        }
        Ok(keys)
    }

    /// Asks for a reading, because a token names a key that is not there.
    pub(super) fn want(&mut self, cx: &mut RequestHeaders<'_>, now_ms: u64) -> HostResult<()> {
        self.looker.want(cx, now_ms)
    }
}
