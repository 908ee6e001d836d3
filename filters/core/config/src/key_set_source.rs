//! Where the public keys of an issuer come from that are not in the document.

use std::net::SocketAddr;

use crate::error::ConfigError;
use crate::form::path;
use crate::hosts::MAX_HOST_BYTES;
use crate::key_store::MAX_POLL_TIMEOUT_MS;
use crate::raw::Raw;
use crate::read::{object, text, whole};
use crate::worker::address;

/// Longest time between two readings of a key set, in seconds: a day, as long as issuers announce a
/// key before they sign with it.
pub const MAX_REFRESH_SECONDS: u32 = 86_400;
/// Longest time for which a key is good that left the set, in seconds: the longest time between two
/// readings, since a key that is never missed is one that nobody can take back.
pub const MAX_OVERLAP_SECONDS: u32 = 86_400;

const DEFAULT_REFRESH_SECONDS: u32 = 300;
const DEFAULT_OVERLAP_SECONDS: u32 = 600;
const DEFAULT_TIMEOUT_MS: u32 = 2000;

/// Where an issuer publishes its key set, and how it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeySetSource {
    /// Where it listens.
    pub address: SocketAddr,
    /// What stands in `:authority`; the address, if the document does not say.
    pub host: String,
    /// Path of the set.
    pub path: String,
    /// Seconds from one reading to the next, 1 to [`MAX_REFRESH_SECONDS`].
    pub refresh_seconds: u32,
    /// For how many seconds a key that left the set is still good, at most [`MAX_OVERLAP_SECONDS`].
    pub overlap_seconds: u32,
    /// Time for one reading, in milliseconds, 1 to [`MAX_POLL_TIMEOUT_MS`].
    pub timeout_ms: u32,
}

impl KeySetSource {
    /// Everything that says where the set is, as one text.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{} {} {}", self.address, self.host, self.path)
    }
}

/// The section `auth.issuers[].jwks_from`.
pub(crate) fn key_set_source(raw: &Raw) -> Result<KeySetSource, ConfigError> {
    const FIELDS: &[&str] = &[
        "address",
        "host",
        "path",
        "refresh_seconds",
        "overlap_seconds",
        "timeout_ms",
    ];
    object(raw, FIELDS, |fields| {
        let address = fields.required("address", address)?;
        let seconds = |least, most| move |raw: &Raw| whole(raw, least, most);
        let refresh = fields.optional("refresh_seconds", seconds(1, MAX_REFRESH_SECONDS))?;
        let overlap = fields.optional("overlap_seconds", seconds(0, MAX_OVERLAP_SECONDS))?;
        let timeout = fields.optional("timeout_ms", seconds(1, MAX_POLL_TIMEOUT_MS))?;
        let host = fields.optional("host", authority)?;
        Ok(KeySetSource {
            address,
            host: host.unwrap_or_else(|| address.to_string()),
            path: fields.required("path", path)?,
            refresh_seconds: refresh.unwrap_or(DEFAULT_REFRESH_SECONDS),
            overlap_seconds: overlap.unwrap_or(DEFAULT_OVERLAP_SECONDS),
            timeout_ms: timeout.unwrap_or(DEFAULT_TIMEOUT_MS),
        })
    })
}

/// A host name as servers expect it, with a port or without.
fn authority(raw: &Raw) -> Result<String, ConfigError> {
    let text = text(raw)?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    if (1..=MAX_HOST_BYTES).contains(&text.len()) && text.bytes().all(allowed) {
        return Ok(text.to_owned());
    }
    let reason = format!(
        "must be a host name of at most {MAX_HOST_BYTES} bytes, with a port or without: the scheme and the path stand elsewhere"
    );
    Err(ConfigError::of(raw, reason))
}
