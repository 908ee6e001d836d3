//! Requests that may be sent again without being carried out again.

use crate::error::ConfigError;
use crate::raw::Raw;
use crate::read::{object, whole, word};

/// Shortest time for which an answer is kept, in seconds: below it a client that tries again after
/// a time-out finds nothing.
pub const MIN_TTL_S: u32 = 60;
/// Longest time for which an answer is kept, in seconds: a week. Records wait in a table of fixed
/// size.
pub const MAX_TTL_S: u32 = 604_800;
/// Smallest cap of a kept answer, in bytes: below it not even an error fits.
pub const MIN_RESPONSE_BYTES: u32 = 1024;
/// Largest cap of a kept answer, in bytes: what one record may have of the chunks in shared data,
/// which all callers share.
pub const MAX_RESPONSE_BYTES: u32 = 4 * 1024 * 1024;
/// Shortest lease, in seconds: below it a claim could run out while a thread is only busy, before it
/// is renewed.
pub const MIN_LEASE_S: u32 = 10;
/// Longest lease, in seconds. A key whose request was lost in a crash is locked as long.
pub const MAX_LEASE_S: u32 = 3600;

/// A day.
const DEFAULT_TTL_S: u32 = 86_400;
const DEFAULT_RESPONSE_BYTES: u32 = 1024 * 1024;
/// A request renews its claim as long as it lives, so this is only how long a key stays locked whose
/// request was lost. Four renewals fit into it.
const DEFAULT_LEASE_S: u32 = 60;

/// How answers to requests with an idempotency key are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Idempotency {
    /// How long an answer is kept, in seconds, [`MIN_TTL_S`] to [`MAX_TTL_S`].
    pub ttl_s: u32,
    /// Largest answer that is kept, in bytes, [`MIN_RESPONSE_BYTES`] to [`MAX_RESPONSE_BYTES`].
    pub max_response_bytes: u32,
    /// How long a claim holds that nobody completes or renews, in seconds, [`MIN_LEASE_S`] to
    /// [`MAX_LEASE_S`].
    pub lease_s: u32,
    /// What becomes of the key when nobody knows whether the request was carried out.
    pub on_unknown: OnUnknown,
}

/// What becomes of a key whose request was sent to a worker and never answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnUnknown {
    /// It is free again: the next request with it is carried out, perhaps for the second time.
    Release,
    /// It stays taken: the next request with it is refused with `outcome_unknown`.
    Hold,
}

/// The section.
pub(crate) fn idempotency(raw: &Raw) -> Result<Idempotency, ConfigError> {
    const FIELDS: &[&str] = &["ttl_s", "max_response_bytes", "lease_s", "on_unknown"];
    object(raw, FIELDS, |fields| {
        let ttl_s = fields.optional("ttl_s", |raw| whole(raw, MIN_TTL_S, MAX_TTL_S))?;
        let max_response_bytes = fields.optional("max_response_bytes", |raw| {
            whole(raw, MIN_RESPONSE_BYTES, MAX_RESPONSE_BYTES)
        })?;
        let lease_s = fields.optional("lease_s", |raw| whole(raw, MIN_LEASE_S, MAX_LEASE_S))?;
        let words = [("release", OnUnknown::Release), ("hold", OnUnknown::Hold)];
        let on_unknown = fields.optional("on_unknown", |raw| word(raw, &words))?;
        Ok(Idempotency {
            ttl_s: ttl_s.unwrap_or(DEFAULT_TTL_S),
            max_response_bytes: max_response_bytes.unwrap_or(DEFAULT_RESPONSE_BYTES),
            lease_s: lease_s.unwrap_or(DEFAULT_LEASE_S),
            on_unknown: on_unknown.unwrap_or(OnUnknown::Release),
        })
    })
}
