#![doc = include_str!("../README.md")]

mod endpoint;
mod error;
mod form;
mod raw;
mod read;
mod worker;

use dragoman_contract::names::BACKEND_HEADER;

pub use endpoint::{
    Endpoint, MAX_ENDPOINT_NAME_BYTES, MAX_ENDPOINTS, MAX_TIMEOUT_MS, MAX_VERSION_BYTES,
    MAX_WEIGHT, Target,
};
pub use error::ConfigError;
pub use form::{MAX_ENV_NAME_BYTES, MAX_HEADER_NAME_BYTES, MAX_MODEL_NAME_BYTES};
pub use worker::{
    Credential, CredentialHeader, DEFAULT_CLUSTER, MAX_WORKER_ID_BYTES, MAX_WORKERS,
    RESERVED_CLUSTER_PREFIX, RESERVED_CLUSTERS, Worker,
};

use raw::Raw;
use read::{object, whole, word};

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
    /// Whether callers must show a credential.
    pub auth: AuthMode,
    /// In the order of the document, at most [`MAX_ENDPOINTS`].
    pub endpoints: Vec<Endpoint>,
    /// In the order of the document, at most [`MAX_WORKERS`].
    pub workers: Vec<Worker>,
    /// What concerns all endpoints.
    pub routing: Routing,
    /// Indices of `endpoints`, ordered by slug.
    by_slug: Vec<usize>,
}

/// Whether callers must show a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthMode {
    /// They must.
    On,
    /// Anyone who reaches the listener may use everything.
    Off,
}

/// What concerns all endpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Routing {
    /// Response header that names the worker, lower case; none if clients are not to see it.
    pub backend_header: Option<String>,
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

    /// The worker of a target.
    #[must_use]
    pub fn worker(&self, target: &Target) -> Option<&Worker> {
        self.workers.get(target.worker)
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
        "auth",
        "endpoints",
        "workers",
        "routing",
    ];
    object(raw, FIELDS, |fields| {
        fields.required("version", version)?;
        let max_body_bytes = fields
            .optional("max_body_bytes", |raw| {
                whole(raw, MIN_BODY_LIMIT_BYTES, MAX_BODY_LIMIT_BYTES)
            })?
            .unwrap_or(DEFAULT_BODY_LIMIT_BYTES);
        let auth = fields.optional("auth", auth)?.unwrap_or(AuthMode::On);
        let workers = fields.required("workers", worker::workers)?;
        let endpoints = fields.required("endpoints", |raw| endpoint::endpoints(raw, &workers))?;
        let routing = match fields.optional("routing", routing)? {
            Some(routing) => routing,
            None => Routing {
                backend_header: Some(BACKEND_HEADER.to_owned()),
            },
        };
        let mut by_slug: Vec<usize> = (0..endpoints.len()).collect();
        by_slug.sort_by_key(|index| endpoints.get(*index).map(|found| found.slug.as_str()));
        Ok(Gateway {
            max_body_bytes,
            auth,
            endpoints,
            workers,
            routing,
            by_slug,
        })
    })
}

fn version(raw: &Raw) -> Result<(), ConfigError> {
    match raw {
        Raw::Whole(1) => Ok(()),
        _ => Err(ConfigError::of(raw, "must be 1")),
    }
}

fn auth(raw: &Raw) -> Result<AuthMode, ConfigError> {
    object(raw, &["mode"], |fields| {
        let words = [("on", AuthMode::On), ("off", AuthMode::Off)];
        let mode = fields.optional("mode", |raw| word(raw, &words))?;
        Ok(mode.unwrap_or(AuthMode::On))
    })
}

fn routing(raw: &Raw) -> Result<Routing, ConfigError> {
    object(raw, &["backend_header"], |fields| {
        let backend_header = fields.optional("backend_header", |raw| match raw {
            Raw::Null => Ok(None),
            _ => form::header_name(raw).map(Some),
        })?;
        Ok(Routing {
            backend_header: backend_header.unwrap_or_else(|| Some(BACKEND_HEADER.to_owned())),
        })
    })
}
