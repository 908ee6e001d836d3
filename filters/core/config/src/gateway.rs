//! The whole document.

use std::net::SocketAddr;

use dragoman_circuit::Rule;

use crate::auth::{self, Auth, AuthMode};
use crate::endpoint::{self, Endpoint, Target};
use crate::error::ConfigError;
use crate::health::{self, Health};
use crate::hosts::Hosts;
use crate::idempotency::{self, Idempotency};
use crate::key::ApiKey;
use crate::limit::{self, Limit};
use crate::raw::{Raw, shown_text};
use crate::read::{object, text, whole};
use crate::routing::{self, Routing};
use crate::tenant::{self, Tenant};
use crate::worker::{self, Worker};

/// Largest document, in bytes. Every filter of every thread holds what is read from it, and Envoy
/// hands it over as one string.
pub const MAX_DOCUMENT_BYTES: usize = 4 * 1024 * 1024;
/// Smallest limit on request bodies, in bytes: below it no chat request fits.
pub const MIN_BODY_LIMIT_BYTES: u32 = 1024;
/// Largest limit on request bodies, in bytes: a module buffers the whole body in its own memory.
pub const MAX_BODY_LIMIT_BYTES: u32 = 64 * 1024 * 1024;
/// Limit on request bodies where the document gives none, in bytes.
pub const DEFAULT_BODY_LIMIT_BYTES: u32 = 4 * 1024 * 1024;

/// A checked document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gateway {
    /// Largest request body, [`MIN_BODY_LIMIT_BYTES`] to [`MAX_BODY_LIMIT_BYTES`].
    pub max_body_bytes: u32,
    /// Where callers inside of the network's boundary come in; `None`: there is no such listener.
    pub internal_listener: Option<SocketAddr>,
    /// Who may call.
    pub auth: Auth,
    /// In the order of the document, at most [`crate::MAX_TENANTS`].
    pub tenants: Vec<Tenant>,
    /// Whom a host name belongs to.
    pub hosts: Hosts,
    /// In the order of the document, at most [`crate::MAX_LIMITS`]; none: nobody is limited.
    pub limits: Vec<Limit>,
    /// How idempotency keys are honoured; `None`: not at all.
    pub idempotency: Option<Idempotency>,
    /// How workers are polled; `None`: not at all.
    pub health: Option<Health>,
    /// When failures keep requests from a worker; `None`: never.
    pub circuit: Option<Rule>,
    /// In the order of the document, at most [`crate::MAX_ENDPOINTS`].
    pub endpoints: Vec<Endpoint>,
    /// In the order of the document, at most [`crate::MAX_WORKERS`].
    pub workers: Vec<Worker>,
    /// What concerns all endpoints.
    pub routing: Routing,
    /// Indices of `endpoints`, ordered by slug.
    by_slug: Vec<usize>,
    /// Indices of `tenants`, ordered by id.
    by_tenant_id: Vec<usize>,
}

impl Gateway {
    /// The endpoint that clients call by this name.
    #[must_use]
    pub fn endpoint(&self, slug: &str) -> Option<&Endpoint> {
        let slug_at = |index: &usize| self.endpoints.get(*index).map(|found| found.slug.as_str());
        let place = self
            .by_slug
            .binary_search_by(|index| slug_at(index).cmp(&Some(slug)))
            .ok()?;
        self.endpoints.get(*self.by_slug.get(place)?)
    }

    /// Whether it matters by which listener a request comes in: there are two, and by the public one
    /// not everybody reaches every endpoint. Goes through all endpoints.
    #[must_use]
    pub fn tells_listeners_apart(&self) -> bool {
        let limited = |endpoint: &Endpoint| endpoint.is_private || endpoint.tenant.is_some();
        let matters = !self.hosts.is_empty() || self.endpoints.iter().any(limited);
        self.internal_listener.is_some() && matters
    }

    /// The worker of a target.
    #[must_use]
    pub fn worker(&self, target: &Target) -> Option<&Worker> {
        self.workers.get(target.worker)
    }

    /// The API key whose bytes have this SHA-256, valid or expired.
    #[must_use]
    pub fn key_by_digest(&self, digest: &[u8; 32]) -> Option<&ApiKey> {
        self.auth.key_by_digest(digest)
    }

    /// Index of the tenant with this id.
    #[must_use]
    pub fn tenant_index(&self, id: &str) -> Option<usize> {
        let id_at = |index: &usize| self.tenants.get(*index).map(|tenant| tenant.id.as_str());
        let place = self
            .by_tenant_id
            .binary_search_by(|index| id_at(index).cmp(&Some(id)))
            .ok()?;
        self.by_tenant_id.get(place).copied()
    }

    /// The tenant of a key or an endpoint.
    #[must_use]
    pub fn tenant(&self, index: usize) -> Option<&Tenant> {
        self.tenants.get(index)
    }
}

/// Reads and checks a whole document.
///
/// # Errors
///
/// The first fault, with its path. Nothing of a faulty document is used.
pub fn parse(text: &[u8]) -> Result<Gateway, ConfigError> {
    if text.len() > MAX_DOCUMENT_BYTES {
        let reason = format!(
            "has {} bytes: must have at most {MAX_DOCUMENT_BYTES}",
            text.len()
        );
        return Err(ConfigError::new(reason));
    }
    let raw: Raw = serde_json::from_slice(text)
        .map_err(|fault| ConfigError::new(format!("is not JSON: {fault}")))?;
    gateway(&raw)
}

fn gateway(raw: &Raw) -> Result<Gateway, ConfigError> {
    const FIELDS: &[&str] = &[
        "version",
        "max_body_bytes",
        "listeners",
        "auth",
        "tenants",
        "limits",
        "idempotency",
        "health",
        "circuit",
        "endpoints",
        "workers",
        "routing",
    ];
    object(raw, FIELDS, |fields| {
        fields.required("version", version)?;
        let max_body_bytes = fields.optional("max_body_bytes", |raw| {
            whole(raw, MIN_BODY_LIMIT_BYTES, MAX_BODY_LIMIT_BYTES)
        })?;
        let internal_listener = fields.optional("listeners", listeners)?.flatten();
        let tenants = fields
            .optional("tenants", tenant::tenants)?
            .unwrap_or_default();
        let hosts = Hosts::new(tenants.iter().map(|tenant| tenant.hosts.as_slice()))
            .map_err(|fault| fault.in_field("tenants"))?;
        let tenant_ids = tenant::index(&tenants);
        let auth = fields
            .optional("auth", |raw| auth::auth(raw, &tenant_ids))?
            .unwrap_or_else(Auth::closed);
        let limits = fields
            .optional("limits", |raw| limits(raw, auth.mode))?
            .unwrap_or_default();
        let idempotency = fields.optional("idempotency", idempotency::idempotency)?;
        let health = fields.optional("health", health::health)?;
        let circuit = fields.optional("circuit", health::circuit)?;
        let workers = fields.required("workers", |raw| worker::workers(raw, &tenant_ids))?;
        let routing = fields
            .optional("routing", routing::routing)?
            .unwrap_or_else(Routing::usual);
        let endpoints = fields.required("endpoints", |raw| {
            endpoint::endpoints(raw, &workers, &tenant_ids, routing.strategy)
        })?;
        let mut by_slug: Vec<usize> = (0..endpoints.len()).collect();
        by_slug.sort_by_key(|index| endpoints.get(*index).map(|found| found.slug.as_str()));
        check_limit_names(&auth, &limits).map_err(|fault| fault.in_field("auth"))?;
        let by_tenant_id = tenant_ids.values().copied().collect();
        Ok(Gateway {
            max_body_bytes: max_body_bytes.unwrap_or(DEFAULT_BODY_LIMIT_BYTES),
            internal_listener,
            auth,
            tenants,
            hosts,
            limits,
            idempotency,
            health,
            circuit,
            endpoints,
            workers,
            routing,
            by_slug,
            by_tenant_id,
        })
    })
}

/// Where the internal listener is, if there is to be one. The public one is Envoy's own affair.
fn listeners(raw: &Raw) -> Result<Option<SocketAddr>, ConfigError> {
    object(raw, &["internal"], |fields| {
        fields.optional("internal", |raw| match text(raw)?.parse() {
            Ok(address) => Ok(address),
            Err(_) => Err(ConfigError::of(raw, "must be an IP address and a port")),
        })
    })
}

/// The only version of documents that there is.
pub(crate) fn version(raw: &Raw) -> Result<(), ConfigError> {
    match raw {
        Raw::Whole(1) => Ok(()),
        _ => Err(ConfigError::of(raw, "must be 1")),
    }
}

/// Limits go by who calls, which nobody knows when everybody may call.
fn limits(raw: &Raw, mode: AuthMode) -> Result<Vec<Limit>, ConfigError> {
    let limits = limit::limits(raw)?;
    if mode == AuthMode::Off && !limits.is_empty() {
        return Err(ConfigError::new(
            "need auth.mode on: without it nobody knows who calls",
        ));
    }
    Ok(limits)
}

/// A caller who names a limit which is not there would be counted by none.
fn check_limit_names(auth: &Auth, limits: &[Limit]) -> Result<(), ConfigError> {
    let keys = auth.keys.iter().map(|key| &key.grant.limits);
    let issuers = auth.issuers.iter().map(|issuer| &issuer.limits);
    let named = ("keys", keys.enumerate().collect::<Vec<_>>());
    let by_issuer = ("issuers", issuers.enumerate().collect());
    for (list, callers) in [named, by_issuer] {
        for (index, names) in callers {
            for (place, name) in names.iter().flatten().enumerate() {
                if !limits.iter().any(|limit| limit.name == *name) {
                    let fault = ConfigError {
                        value: Some(shown_text(name)),
                        ..ConfigError::new("is no limit of this document")
                    };
                    let fault = fault.in_item(place).in_field("limits");
                    return Err(fault.in_item(index).in_field(list));
                }
            }
        }
    }
    Ok(())
}
