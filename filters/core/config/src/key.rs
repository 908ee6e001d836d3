//! API keys: a record of what is known of each, never the key itself.

use std::collections::BTreeMap;

use crate::error::ConfigError;
use crate::form::id;
use crate::grant::{GRANT_FIELDS, Grant, grant};
use crate::raw::Raw;
use crate::read::{Fields, object, text, whole};
use crate::time::utc;
use crate::unique::{unique, unique_shown};

/// Most bytes of a key's id; it stands in every log line.
pub const MAX_KEY_ID_BYTES: usize = 64;
/// Largest generation of a key.
pub const MAX_GENERATION: u32 = 1_000_000;
/// Most generations of an application that are valid at one time: the one that clients have and the
/// one that they are to have.
pub const MAX_LIVE_GENERATIONS: usize = 2;

/// A credential of a caller; the document holds its digest only.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiKey {
    /// Name of the key for people and logs; unique, at most [`MAX_KEY_ID_BYTES`].
    pub id: String,
    /// SHA-256 of the key's bytes; unique.
    pub sha256: [u8; 32],
    /// Which of its application's keys it is, 1 to [`MAX_GENERATION`]; `None`: they are not counted.
    pub generation: Option<u32>,
    /// When it begins to be valid, in Unix seconds; `None`: it is from the beginning.
    pub not_before: Option<u64>,
    /// When it stops being valid, in Unix seconds; `None`: never.
    pub expires_at: Option<u64>,
    /// What it entitles to.
    pub grant: Grant,
}

/// One record.
pub(crate) fn key(raw: &Raw) -> Result<ApiKey, ConfigError> {
    refuse_literal(raw)?;
    object(raw, &[OWN_FIELDS, &GRANT_FIELDS].concat(), key_of)
}

/// Fields of an object that [`key_of`] reads beside [`GRANT_FIELDS`].
pub(crate) const OWN_FIELDS: &[&str] = &["id", "sha256", "generation", "not_before", "expires_at"];

/// The record among the fields of an object.
pub(crate) fn key_of(fields: &mut Fields<'_>) -> Result<ApiKey, ConfigError> {
    let key = ApiKey {
        id: fields.required("id", |raw| id(raw, MAX_KEY_ID_BYTES))?,
        sha256: fields.required("sha256", digest)?,
        generation: fields.optional("generation", |raw| whole(raw, 1, MAX_GENERATION))?,
        not_before: instant(fields, "not_before")?,
        expires_at: instant(fields, "expires_at")?,
        grant: grant(fields)?,
    };
    match (key.not_before, key.expires_at) {
        (Some(start), Some(end)) if start >= end => {
            Err(ConfigError::new("must lie before expires_at").in_field("not_before"))
        }
        _ => Ok(key),
    }
}

/// Refuses a key where a record should be.
pub(crate) fn refuse_literal(raw: &Raw) -> Result<(), ConfigError> {
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
    Ok(())
}

/// What must hold among keys: ids and digests are unique, and of no application more than
/// [`MAX_LIVE_GENERATIONS`] are valid at one time. `list` is what the errors call them.
pub(crate) fn check_together(list: &str, keys: &[ApiKey]) -> Result<(), ConfigError> {
    unique_keys(list, keys.iter())?;
    generations(keys)
}

/// Ids and digests are unique.
pub(crate) fn unique_keys<'a>(
    list: &str,
    keys: impl Iterator<Item = &'a ApiKey> + Clone,
) -> Result<(), ConfigError> {
    unique(list, "id", keys.clone().map(|key| key.id.as_str()))?;
    unique_shown(list, "sha256", keys.map(|key| &key.sha256), |_| None)
}

/// Goes through each application's keys by their beginnings, keeping of each generation that is
/// still valid when its last key ends.
fn generations(keys: &[ApiKey]) -> Result<(), ConfigError> {
    let mut counted: Vec<(&str, &str, u64, usize)> = Vec::new();
    for (index, key) in keys.iter().enumerate() {
        if key.generation.is_some() {
            let start = key.not_before.unwrap_or(0);
            counted.push((&key.grant.tenant, &key.grant.app, start, index));
        }
    }
    counted.sort_unstable();
    let (mut of, mut live) = (None, BTreeMap::new());
    for (tenant, app, start, index) in counted {
        if of.replace((tenant, app)) != Some((tenant, app)) {
            live.clear();
        }
        let Some(key) = keys.get(index) else { continue };
        live.retain(|_, end| *end > start);
        let end = key.expires_at.unwrap_or(u64::MAX);
        let last = live.entry(key.generation).or_insert(end);
        *last = end.max(*last);
        if live.len() > MAX_LIVE_GENERATIONS {
            let reason = format!(
                "is one generation of {tenant}/{app} more than {MAX_LIVE_GENERATIONS} that are valid at one time: let an older one expire before"
            );
            return Err(ConfigError::new(reason)
                .in_field("generation")
                .in_item(index));
        }
    }
    Ok(())
}

/// A time; `null` says that there is none.
fn instant(fields: &mut Fields<'_>, name: &'static str) -> Result<Option<u64>, ConfigError> {
    let instant = fields.optional(name, |raw| match raw {
        Raw::Null => Ok(None),
        _ => utc(raw).map(Some),
    })?;
    Ok(instant.flatten())
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
