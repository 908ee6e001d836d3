//! Who may call: API keys.

use crate::error::ConfigError;
use crate::form::{id, model_patterns};
use crate::raw::Raw;
use crate::read::{Fields, list, object, text, whole, word};
use crate::tenant::{TenantIndex, tenant_index};
use crate::time::utc;
use crate::unique::{unique, unique_shown};

/// Most keys in the document, which every VM holds. More than a few thousand belong into a
/// catalogue that is polled.
pub const MAX_KEYS: usize = 4096;
/// Most bytes of a key's id; it stands in every log line.
pub const MAX_KEY_ID_BYTES: usize = 64;
/// Most bytes of an application's id; it stands in every log line.
pub const MAX_APP_ID_BYTES: usize = 64;
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
    /// Most requests per key and Envoy worker thread whose body is still being received, 1 to
    /// [`MAX_UPLOADS`].
    pub max_uploads: u32,
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

/// A credential of a caller; the document holds its digest only.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiKey {
    /// Name of the key for people and logs; unique, at most [`MAX_KEY_ID_BYTES`].
    pub id: String,
    /// SHA-256 of the key's bytes; unique.
    pub sha256: [u8; 32],
    /// Index into [`crate::Gateway::tenants`].
    pub tenant: usize,
    /// Application of the tenant, at most [`MAX_APP_ID_BYTES`].
    pub app: String,
    /// Models that the key may use: names, or beginnings that end with `*`; `None`: all.
    pub models: Option<Vec<String>>,
    /// When it stops being valid, in Unix seconds; `None`: never.
    pub expires_at: Option<u64>,
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

    /// What a document without the section means: everybody must show a key, and there is none.
    pub(crate) fn closed() -> Self {
        Self {
            mode: AuthMode::On,
            keys: Vec::new(),
            max_uploads: DEFAULT_UPLOADS,
            by_digest: Vec::new(),
        }
    }
}

/// The section.
pub(crate) fn auth(raw: &Raw, tenants: &TenantIndex<'_>) -> Result<Auth, ConfigError> {
    object(raw, &["mode", "keys", "max_uploads"], |fields| {
        let words = [("on", AuthMode::On), ("off", AuthMode::Off)];
        let mode = fields.optional("mode", |raw| word(raw, &words))?;
        // A key in the wrong place must not end up in Envoy's log.
        let keys = fields
            .optional("keys", |raw| keys(raw, tenants))
            .map_err(ConfigError::without_value)?
            .unwrap_or_default();
        let max_uploads = fields.optional("max_uploads", |raw| whole(raw, 1, MAX_UPLOADS))?;
        let mut by_digest: Vec<usize> = (0..keys.len()).collect();
        by_digest.sort_by_key(|index| keys.get(*index).map(|key| key.sha256));
        Ok(Auth {
            mode: mode.unwrap_or(AuthMode::On),
            keys,
            max_uploads: max_uploads.unwrap_or(DEFAULT_UPLOADS),
            by_digest,
        })
    })
}

fn keys(raw: &Raw, tenants: &TenantIndex<'_>) -> Result<Vec<ApiKey>, ConfigError> {
    let keys = list(raw, MAX_KEYS, |raw, _| key(raw, tenants))?;
    unique("auth.keys", "id", keys.iter().map(|key| key.id.as_str()))?;
    let digests = keys.iter().map(|key| &key.sha256);
    unique_shown("auth.keys", "sha256", digests, |_| None)?;
    Ok(keys)
}

fn key(raw: &Raw, tenants: &TenantIndex<'_>) -> Result<ApiKey, ConfigError> {
    const FIELDS: &[&str] = &["id", "sha256", "tenant", "app", "models", "expires_at"];
    let literal = match raw {
        Raw::Text(_) => true,
        Raw::Object(entries) => entries
            .iter()
            .any(|(name, _)| matches!(name.as_str(), "key" | "value" | "secret" | "token")),
        _ => false,
    };
    if literal {
        let reason = "must not hold the key itself, which config dumps show: give its digest as {\"sha256\": \"<64 lower-case hex digits>\"}";
        return Err(ConfigError::new(reason));
    }
    object(raw, FIELDS, |fields| {
        Ok(ApiKey {
            id: fields.required("id", |raw| id(raw, MAX_KEY_ID_BYTES))?,
            sha256: fields.required("sha256", digest)?,
            tenant: fields.required("tenant", |raw| tenant_index(raw, tenants))?,
            app: fields.required("app", |raw| id(raw, MAX_APP_ID_BYTES))?,
            models: fields.optional("models", model_patterns)?,
            expires_at: expires_at(fields)?,
        })
    })
}

fn expires_at(fields: &mut Fields<'_>) -> Result<Option<u64>, ConfigError> {
    let expires_at = fields.optional("expires_at", |raw| match raw {
        Raw::Null => Ok(None),
        _ => utc(raw).map(Some),
    })?;
    Ok(expires_at.flatten())
}

fn digest(raw: &Raw) -> Result<[u8; 32], ConfigError> {
    from_hex(text(raw)?.as_bytes()).ok_or_else(|| {
        ConfigError::new(
            "must be the SHA-256 of the key as 64 lower-case hex digits, not the key itself, which config dumps show",
        )
    })
}

fn from_hex(text: &[u8]) -> Option<[u8; 32]> {
    let (pairs, []) = text.as_chunks::<2>() else {
        return None;
    };
    let pairs: &[[u8; 2]; 32] = pairs.try_into().ok()?;
    let mut out = [0; 32];
    for (byte, [high, low]) in out.iter_mut().zip(pairs) {
        *byte = nibble(*high)? << 4 | nibble(*low)?;
    }
    Some(out)
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}
