//! Keys of the table that `poll` reads (`dragoman-keys`).

use std::cell::RefCell;

use dragoman_config::{Auth, AuthMode, PolledKey};
use dragoman_keys::{Found, Looker};
use dragoman_sdk::host::{Clock, millis};
use dragoman_sdk::{HostResult, RequestHeaders};

use crate::reason::Reason;
use crate::uploads::Digest;

/// The table, as one thread sees it. Nothing, where the document has no key store.
#[derive(Debug)]
pub(crate) struct Polled(Option<RefCell<Looker>>);

impl Polled {
    pub(crate) fn new(auth: &Auth) -> Self {
        let is_on = auth.mode == AuthMode::On && auth.key_store.is_some();
        Self(is_on.then(RefCell::default))
    }

    /// Whether there is anything to look into; without a key store there always is.
    pub(crate) fn is_ready(&self, cx: &mut RequestHeaders<'_>) -> HostResult<bool> {
        let Some(looker) = &self.0 else {
            return Ok(true);
        };
        let now = millis(cx.monotonic());
        looker.borrow_mut().is_ready(cx, now)
    }

    /// The key of this digest. Before a table was read it is not unknown: who is told so would throw
    /// a good key away.
    pub(crate) fn find(
        &self,
        cx: &mut RequestHeaders<'_>,
        digest: &Digest,
    ) -> HostResult<Result<PolledKey, Reason>> {
        let Some(looker) = &self.0 else {
            return Ok(Err(Reason::Unknown));
        };
        let now = millis(cx.monotonic());
        Ok(match looker.borrow_mut().find(cx, digest, now)? {
            Found::NotReady => Err(Reason::NotReady),
            Found::Absent => Err(Reason::Unknown),
            Found::Record(record) => PolledKey::decode(*digest, &record).ok_or(Reason::Unknown),
        })
    }
}
