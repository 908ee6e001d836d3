//! Who may call.

use crate::error::ConfigError;
use crate::issuer::{TokenIssuer, issuers};
use crate::key::{self, ApiKey};
use crate::key_set_source::KeySetSource;
use crate::key_store::{KeyStore, key_store};
use crate::raw::{Raw, shown_text};
use crate::read::{list, object, whole, word};
use crate::tenant::TenantIndex;

/// Most keys in the document, which every VM holds. More than a few thousand belong into a
/// catalogue that is polled.
pub const MAX_KEYS: usize = 4096;
/// Largest limit on uploads: as many requests as a rendered cluster lets through at once.
pub const MAX_UPLOADS: u32 = 10_000;
/// Uploads where the document says nothing: more than a busy client library opens at once, and
/// with the default body limit 256 MiB at most.
pub const DEFAULT_UPLOADS: u32 = 64;

/// Who may call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Auth {
    /// Whether callers must show a credential.
    pub mode: AuthMode,
    /// In the order of the document, at most [`MAX_KEYS`].
    pub keys: Vec<ApiKey>,
    /// Whose signed tokens are credentials too, at most [`crate::MAX_ISSUERS`].
    pub issuers: Vec<TokenIssuer>,
    /// Most requests per key and Envoy worker thread whose body is still being received, 1 to
    /// [`MAX_UPLOADS`].
    pub max_uploads: u32,
    /// Where more keys come from at run time; `None`: from nowhere.
    pub key_store: Option<KeyStore>,
    /// Indices of `keys`, ordered by digest.
    by_digest: Vec<usize>,
}

/// Whether callers must show a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthMode {
    /// They must.
    On,
    /// Anyone who reaches the listener may use everything.
    Off,
}

impl Auth {
    /// The key whose bytes have this SHA-256.
    #[must_use]
    pub fn key_by_digest(&self, digest: &[u8; 32]) -> Option<&ApiKey> {
        let digest_at = |index: &usize| self.keys.get(*index).map(|key| &key.sha256);
        let place = self
            .by_digest
            .binary_search_by(|index| digest_at(index).cmp(&Some(digest)))
            .ok()?;
        self.keys.get(*self.by_digest.get(place)?)
    }

    /// The issuers whose keys are read at run time, and where.
    pub fn polled_issuers(&self) -> impl Iterator<Item = (&TokenIssuer, &KeySetSource)> {
        self.issuers
            .iter()
            .filter_map(|issuer| Some((issuer, issuer.jwks_from.as_ref()?)))
    }

    /// What a document without the section means: everybody must show a key, and there is none.
    pub(crate) fn closed() -> Self {
        Self {
            mode: AuthMode::On,
            keys: Vec::new(),
            issuers: Vec::new(),
            max_uploads: DEFAULT_UPLOADS,
            key_store: None,
            by_digest: Vec::new(),
        }
    }
}

/// The section.
pub(crate) fn auth(raw: &Raw, tenants: &TenantIndex<'_>) -> Result<Auth, ConfigError> {
    object(
        raw,
        &["mode", "keys", "issuers", "max_uploads", "key_store"],
        |fields| {
            let words = [("on", AuthMode::On), ("off", AuthMode::Off)];
            let mode = fields.optional("mode", |raw| word(raw, &words))?;
            // A key in the wrong place must not end up in Envoy's log.
            let keys = fields
                .optional("keys", |raw| keys(raw, tenants))
                .map_err(ConfigError::without_value)?
                .unwrap_or_default();
            let issuers = fields.optional("issuers", |raw| issuers(raw, tenants))?;
            let max_uploads = fields.optional("max_uploads", |raw| whole(raw, 1, MAX_UPLOADS))?;
            let key_store = fields.optional("key_store", key_store)?;
            if mode == Some(AuthMode::Off) && key_store.is_some() {
                let reason = "needs auth.mode on: without it nobody shows a key";
                return Err(ConfigError::new(reason).in_field("key_store"));
            }
            let issuers = issuers.unwrap_or_default();
            let polled = |issuer: &TokenIssuer| issuer.jwks_from.is_some();
            if let Some(index) = issuers.iter().position(polled)
                && mode == Some(AuthMode::Off)
            {
                let reason = "needs auth.mode on: without it nobody shows a token";
                let fault = ConfigError::new(reason).in_field("jwks_from");
                return Err(fault.in_item(index).in_field("issuers"));
            }
            let mut by_digest: Vec<usize> = (0..keys.len()).collect();
            by_digest.sort_by_key(|index| keys.get(*index).map(|key| key.sha256));
            Ok(Auth {
                mode: mode.unwrap_or(AuthMode::On),
                keys,
                issuers,
                max_uploads: max_uploads.unwrap_or(DEFAULT_UPLOADS),
                key_store,
                by_digest,
            })
        },
    )
}

/// The keys of the document, each of a tenant that the document has.
fn keys(raw: &Raw, tenants: &TenantIndex<'_>) -> Result<Vec<ApiKey>, ConfigError> {
    let keys = list(raw, MAX_KEYS, |raw, _| {
        let key = key::key(raw)?;
        if tenants.contains_key(key.grant.tenant.as_str()) {
            return Ok(key);
        }
        let fault = ConfigError {
            value: Some(shown_text(&key.grant.tenant)),
            ..ConfigError::new("is no tenant of this document")
        };
        Err(fault.in_field("tenant"))
    })?;
    key::check_together("auth.keys", &keys)?;
    Ok(keys)
}
