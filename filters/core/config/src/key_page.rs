//! A page of the table of keys that a control plane hands out.

use crate::error::ConfigError;
use crate::form::path;
use crate::gateway::version;
use crate::grant::GRANT_FIELDS;
use crate::key::{ApiKey, OWN_FIELDS, key_of, refuse_literal, unique_keys};
use crate::raw::Raw;
use crate::read::{flag, list, object};

/// Most keys of a page: reading and storing them holds a thread for a few milliseconds.
pub const MAX_PAGE_KEYS: usize = 1024;
/// Longest page, in bytes: [`MAX_PAGE_KEYS`] records of a kilobyte.
pub const MAX_PAGE_BYTES: usize = 1024 * 1024;

/// A page that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyPage {
    /// At most [`MAX_PAGE_KEYS`]. Their tenants need not be in any document.
    pub keys: Vec<PolledKey>,
    /// Path of the next page; `None`: this is the last one.
    pub next: Option<String>,
}

/// A key of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolledKey {
    /// What is known of it.
    pub key: ApiKey,
    /// Whether it is good no more, whatever its times say.
    pub revoked: bool,
}

/// Reads and checks a page: `{"version": 1, "keys": [...], "next": "/path" | null}`, a record as in
/// `auth.keys`, with `revoked` where it is.
///
/// # Errors
///
/// The first fault, with its path and without the value. Nothing of a faulty page is used.
pub fn key_page(text: &[u8]) -> Result<KeyPage, ConfigError> {
    if text.len() > MAX_PAGE_BYTES {
        let length = text.len();
        let reason = format!("has {length} bytes: must have at most {MAX_PAGE_BYTES}");
        return Err(ConfigError::new(reason));
    }
    // What the parser says of a fault may hold a piece of it.
    let raw: Raw = serde_json::from_slice(text).map_err(|fault| {
        let (line, column) = (fault.line(), fault.column());
        ConfigError::new(format!("is not JSON at line {line} column {column}"))
    })?;
    page(&raw).map_err(ConfigError::without_value)
}

fn page(raw: &Raw) -> Result<KeyPage, ConfigError> {
    object(raw, &["version", "keys", "next"], |fields| {
        fields.required("version", version)?;
        let keys = fields.required("keys", keys)?;
        let next = fields.required("next", |raw| match raw {
            Raw::Null => Ok(None),
            _ => path(raw).map(Some),
        })?;
        Ok(KeyPage { keys, next })
    })
}

fn keys(raw: &Raw) -> Result<Vec<PolledKey>, ConfigError> {
    let keys = list(raw, MAX_PAGE_KEYS, |raw, _| polled(raw))?;
    unique_keys("keys", keys.iter().map(|one: &PolledKey| &one.key))?;
    Ok(keys)
}

fn polled(raw: &Raw) -> Result<PolledKey, ConfigError> {
    refuse_literal(raw)?;
    let known = [OWN_FIELDS, &GRANT_FIELDS, &["revoked"]].concat();
    object(raw, &known, |fields| {
        Ok(PolledKey {
            key: key_of(fields)?,
            revoked: fields.optional("revoked", flag)?.unwrap_or(false),
        })
    })
}
