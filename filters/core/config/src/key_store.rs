//! Where keys come from that are not in the document.

use std::net::SocketAddr;

use crate::error::ConfigError;
use crate::form::path;
use crate::raw::Raw;
use crate::read::{object, whole};
use crate::worker::{Credential, address, credential};

/// Longest time between two polls, in seconds: an hour, which nobody wants to wait for a key that
/// was revoked.
pub const MAX_POLL_SECONDS: u32 = 3600;
/// Longest time for one page, in milliseconds.
pub const MAX_POLL_TIMEOUT_MS: u32 = 60_000;

const DEFAULT_POLL_SECONDS: u32 = 10;
const DEFAULT_TIMEOUT_MS: u32 = 2000;
const DEFAULT_PATH: &str = "/v1/keys/resolved";

/// A control plane that hands out the table of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyStore {
    /// Where it listens.
    pub address: SocketAddr,
    /// Path of the first page.
    pub path: String,
    /// Within how many seconds a change is in force, 1 to [`MAX_POLL_SECONDS`].
    pub poll_seconds: u32,
    /// Time for one page, in milliseconds, 1 to [`MAX_POLL_TIMEOUT_MS`].
    pub timeout_ms: u32,
    /// What to present to it.
    pub credential: Option<Credential>,
}

/// The section `auth.key_store`.
pub(crate) fn key_store(raw: &Raw) -> Result<KeyStore, ConfigError> {
    const FIELDS: &[&str] = &[
        "address",
        "path",
        "poll_seconds",
        "timeout_ms",
        "credential",
    ];
    object(raw, FIELDS, |fields| {
        let page = fields.optional("path", path)?;
        let seconds = fields.optional("poll_seconds", |raw| whole(raw, 1, MAX_POLL_SECONDS))?;
        let timeout = fields.optional("timeout_ms", |raw| whole(raw, 1, MAX_POLL_TIMEOUT_MS))?;
        Ok(KeyStore {
            address: fields.required("address", address)?,
            path: page.unwrap_or_else(|| DEFAULT_PATH.to_owned()),
            poll_seconds: seconds.unwrap_or(DEFAULT_POLL_SECONDS),
            timeout_ms: timeout.unwrap_or(DEFAULT_TIMEOUT_MS),
            // A secret in the wrong place must not end up in Envoy's log.
            credential: fields
                .optional("credential", credential)
                .map_err(ConfigError::without_value)?,
        })
    })
}
