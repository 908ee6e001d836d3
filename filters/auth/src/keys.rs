//! The key store: whose key is this?

use std::time::Duration;

use dragoman_config::{ApiKey, Gateway, Tenant};
use dragoman_contract::{Code, Identity};
use sha2::{Digest as _, Sha256};

/// A configured key and its tenant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller<'a> {
    pub key: &'a ApiKey,
    pub tenant: &'a Tenant,
}

/// Who has this key, valid or not.
///
/// What is compared is the SHA-256 of the key. How long that takes tells at most how far the digest
/// of a guess agrees with another digest, which says nothing of how near the guess was.
pub(crate) fn find<'a>(gateway: &'a Gateway, presented: &[u8]) -> Option<Caller<'a>> {
    let key = gateway.key_by_digest(&Sha256::digest(presented).into())?;
    let tenant = gateway.tenant(key.tenant)?;
    Some(Caller { key, tenant })
}

impl<'a> Caller<'a> {
    /// Why this caller may not come in at the moment; `now` is asked only for a key that expires.
    pub(crate) fn refusal(&self, now: impl FnOnce() -> Duration) -> Option<Code> {
        if self
            .key
            .expires_at
            .is_some_and(|end| now().as_secs() >= end)
        {
            return Some(Code::InvalidCredential);
        }
        (!self.tenant.active).then_some(Code::TenantInactive)
    }

    pub(crate) fn identity(&self) -> Identity<'a> {
        Identity {
            key: &self.key.id,
            tenant: &self.tenant.id,
            app: &self.key.app,
            key_models: patterns(self.key.models.as_deref()),
            tenant_models: patterns(self.tenant.models.as_deref()),
        }
    }
}

fn patterns(models: Option<&[String]>) -> Option<Vec<&str>> {
    models.map(|models| models.iter().map(String::as_str).collect())
}
