//! What a request asks of a worker.

use dragoman_contract::Class;
use dragoman_contract::load::fnv_1a;

/// What decides which workers a request may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Who waits for the answer.
    pub class: Class,
    /// Stable hash of the caller ([`caller_hash`]).
    pub caller: u64,
    /// Prompt and answer together, in tokens, as far as can be told.
    pub tokens: u32,
    /// It offers tools.
    pub tools: bool,
}

/// How callers are divided among versions and classes; from the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Callers of a hundred that belong to the canary slice.
    pub canary_percent: u32,
    /// How much of a worker's cap background work may fill, in percent.
    pub background_percent: u32,
}

/// A number for a caller that is the same on every gateway and in every version: its tenant and its
/// application, not its key, which rotates.
#[must_use]
pub fn caller_hash(tenant: &str, app: &str) -> u64 {
    fnv_1a(tenant.bytes().chain([0]).chain(app.bytes()))
}
