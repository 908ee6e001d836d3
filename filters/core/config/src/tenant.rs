//! Tenants: who owns keys and endpoints.

use std::collections::BTreeMap;

use crate::error::ConfigError;
use crate::form::{id, model_patterns};
use crate::hosts::{Host, hosts};
use crate::raw::Raw;
use crate::read::{list, object, text, word};
use crate::unique::unique;

/// Most tenants. Every VM holds the whole table.
pub const MAX_TENANTS: usize = 4096;
/// Most bytes of a tenant's id, which stands in every identity and log line.
pub const MAX_TENANT_ID_BYTES: usize = 64;

/// Most regions of one tenant: more than any cloud has on a continent.
pub const MAX_REGIONS: usize = 32;
/// Most bytes of the name of a region.
pub const MAX_REGION_BYTES: usize = 64;

/// Who owns keys and endpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tenant {
    /// Unique, at most [`MAX_TENANT_ID_BYTES`].
    pub id: String,
    /// Whether its keys are served.
    pub active: bool,
    /// Models that it may use: names, or beginnings that end with `*`; `None`: all.
    pub models: Option<Vec<String>>,
    /// Names under which a public listener serves it, at most [`crate::MAX_TENANT_HOSTS`].
    pub hosts: Vec<Host>,
    /// Regions where its data may be ([`crate::Worker::region`]), at most [`MAX_REGIONS`]; `None`:
    /// anywhere, also where nothing is said of the region.
    pub residency: Option<Vec<String>>,
}

/// Tenant id to index.
pub(crate) type TenantIndex<'a> = BTreeMap<&'a str, usize>;

/// All tenants.
pub(crate) fn tenants(raw: &Raw) -> Result<Vec<Tenant>, ConfigError> {
    let tenants = list(raw, MAX_TENANTS, |raw, _| tenant(raw))?;
    let ids = tenants.iter().map(|tenant: &Tenant| tenant.id.as_str());
    unique("tenants", "id", ids)?;
    Ok(tenants)
}

fn tenant(raw: &Raw) -> Result<Tenant, ConfigError> {
    const FIELDS: &[&str] = &["id", "status", "models", "hosts", "residency"];
    object(raw, FIELDS, |fields| {
        let status = [("active", true), ("suspended", false)];
        Ok(Tenant {
            id: fields.required("id", |raw| id(raw, MAX_TENANT_ID_BYTES))?,
            active: fields
                .optional("status", |raw| word(raw, &status))?
                .unwrap_or(true),
            models: fields.optional("models", model_patterns)?,
            hosts: fields.optional("hosts", hosts)?.unwrap_or_default(),
            residency: fields.optional("residency", |raw| {
                list(raw, MAX_REGIONS, |raw, _| region(raw))
            })?,
        })
    })
}

/// The name of a region.
pub(crate) fn region(raw: &Raw) -> Result<String, ConfigError> {
    id(raw, MAX_REGION_BYTES)
}

pub(crate) fn index(tenants: &[Tenant]) -> TenantIndex<'_> {
    tenants
        .iter()
        .map(|tenant| tenant.id.as_str())
        .zip(0..)
        .collect()
}

/// A tenant by its id.
pub(crate) fn tenant_index(raw: &Raw, tenants: &TenantIndex<'_>) -> Result<usize, ConfigError> {
    let index = tenants.get(text(raw)?).copied();
    index.ok_or_else(|| ConfigError::of(raw, "is no tenant of this document"))
}
