//! How it is found out which workers are alive.

use dragoman_circuit::Rule;

use crate::error::ConfigError;
use crate::form::path;
use crate::raw::Raw;
use crate::read::{object, whole};

/// Longest time between two checks of a worker, and longest cool-down, in seconds: an hour, which
/// nobody wants to wait for a worker that is back.
pub const MAX_HEALTH_SECONDS: u32 = 3600;
/// Longest time for one check, in milliseconds: a worker that takes longer is not alive.
pub const MAX_CHECK_TIMEOUT_MS: u32 = 60_000;
/// Most failures in a row before a circuit opens; with more it would never open.
pub const MAX_CIRCUIT_THRESHOLD: u32 = 1000;

const DEFAULT_CHECK_SECONDS: u32 = 10;
const DEFAULT_CHECK_TIMEOUT_MS: u32 = 2000;
const DEFAULT_READY_PATH: &str = "/readyz";
const DEFAULT_MODELS_PATH: &str = "/v1/models";
const DEFAULT_THRESHOLD: u32 = 5;
const DEFAULT_COOLDOWN_SECONDS: u32 = 30;

/// How workers are polled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// Time between two checks of a worker, in seconds, 1 to [`MAX_HEALTH_SECONDS`].
    pub check_seconds: u32,
    /// Time for one check, in milliseconds, 1 to [`MAX_CHECK_TIMEOUT_MS`] and no longer than the
    /// time between two checks, so that checks of one worker never overlap.
    pub timeout_ms: u32,
    /// Path that a worker answers with 200 when it takes requests.
    pub ready_path: String,
    /// Path that lists the models that a worker has loaded.
    pub models_path: String,
}

/// The section `health`.
pub(crate) fn health(raw: &Raw) -> Result<Health, ConfigError> {
    const FIELDS: &[&str] = &[
        "health_check_seconds",
        "timeout_ms",
        "ready_path",
        "models_path",
    ];
    object(raw, FIELDS, |fields| {
        let check_seconds = fields
            .optional("health_check_seconds", |raw| {
                whole(raw, 1, MAX_HEALTH_SECONDS)
            })?
            .unwrap_or(DEFAULT_CHECK_SECONDS);
        let most_ms = MAX_CHECK_TIMEOUT_MS.min(check_seconds.saturating_mul(1000));
        let timeout_ms = fields.optional("timeout_ms", |raw| whole(raw, 1, most_ms))?;
        let ready_path = fields.optional("ready_path", path)?;
        let models_path = fields.optional("models_path", path)?;
        Ok(Health {
            check_seconds,
            timeout_ms: timeout_ms.unwrap_or(DEFAULT_CHECK_TIMEOUT_MS.min(most_ms)),
            ready_path: ready_path.unwrap_or_else(|| DEFAULT_READY_PATH.to_owned()),
            models_path: models_path.unwrap_or_else(|| DEFAULT_MODELS_PATH.to_owned()),
        })
    })
}

/// The section `circuit`.
pub(crate) fn circuit(raw: &Raw) -> Result<Rule, ConfigError> {
    object(raw, &["threshold", "cooldown_seconds"], |fields| {
        let threshold = fields.optional("threshold", |raw| whole(raw, 1, MAX_CIRCUIT_THRESHOLD))?;
        let cooldown_seconds = fields
            .optional("cooldown_seconds", |raw| whole(raw, 1, MAX_HEALTH_SECONDS))?
            .unwrap_or(DEFAULT_COOLDOWN_SECONDS);
        Ok(Rule {
            threshold: threshold.unwrap_or(DEFAULT_THRESHOLD),
            cooldown_ms: u64::from(cooldown_seconds) * 1000,
        })
    })
}
