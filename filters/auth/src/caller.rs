//! Somebody whose credential was found, and whether that one may come in now.

use std::time::Duration;

use dragoman_config::{ApiKey, Gateway, Grant, PolledKey, Tenant};
use dragoman_contract::Identity;

use crate::reason::Reason;
use crate::tokens::Verified;

/// Who shows a credential that is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller<'a> {
    /// Name of the credential, never the credential.
    pub id: &'a str,
    pub generation: Option<u32>,
    /// Unix seconds between which the credential is valid, the first included.
    pub valid: (Option<u64>, Option<u64>),
    /// Whether the credential was taken back before its time was over.
    pub revoked: bool,
    pub grant: &'a Grant,
    /// Index of the tenant; `None`: the document has none of this id.
    pub tenant: Option<usize>,
}

impl<'a> Caller<'a> {
    /// Who has this key.
    pub(crate) fn of_key(gateway: &Gateway, key: &'a ApiKey) -> Self {
        Self {
            id: &key.id,
            generation: key.generation,
            valid: (key.not_before, key.expires_at),
            revoked: false,
            grant: &key.grant,
            tenant: gateway.tenant_index(&key.grant.tenant),
        }
    }

    /// Who has this key of the table.
    pub(crate) fn of_polled(gateway: &Gateway, polled: &'a PolledKey) -> Self {
        Self {
            revoked: polled.revoked,
            ..Self::of_key(gateway, &polled.key)
        }
    }

    /// Who shows a token that is valid at the moment.
    pub(crate) fn of_token(token: &'a Verified) -> Self {
        Self {
            id: &token.id,
            generation: None,
            valid: (None, None),
            revoked: false,
            grant: &token.grant,
            tenant: token.tenant,
        }
    }

    /// Why the credential is not good now; `now` is asked only for one that is not always good.
    pub(crate) fn lapse(&self, now: impl FnOnce() -> Duration) -> Option<Reason> {
        if self.revoked {
            return Some(Reason::Revoked);
        }
        if self.valid == (None, None) {
            return None;
        }
        let (now, (start, end)) = (now().as_secs(), self.valid);
        if start.is_some_and(|start| now < start) {
            return Some(Reason::NotYetValid);
        }
        end.is_some_and(|end| now >= end).then_some(Reason::Expired)
    }

    /// Its tenant, if that one is served.
    pub(crate) fn active<'g>(&self, gateway: &'g Gateway) -> Result<&'g Tenant, Reason> {
        let tenant = self.tenant.and_then(|index| gateway.tenant(index));
        match tenant {
            None => Err(Reason::TenantUnknown),
            Some(tenant) if !tenant.active => Err(Reason::TenantSuspended),
            Some(tenant) => Ok(tenant),
        }
    }

    /// What the later filters are told.
    pub(crate) fn identity(&self, tenant: &'a Tenant, internal: bool) -> Identity<'a> {
        Identity {
            key: self.id,
            tenant: &self.grant.tenant,
            app: &self.grant.app,
            key_models: texts(self.grant.models.as_deref()),
            tenant_models: texts(tenant.models.as_deref()),
            limits: texts(self.grant.limits.as_deref()),
            class: self.grant.class,
            internal,
        }
    }
}

fn texts(list: Option<&[String]>) -> Option<Vec<&str>> {
    list.map(|list| list.iter().map(String::as_str).collect())
}
