//! What an older Envoy does not have.

use std::fmt;
use std::str::FromStr;

use host_sim_envoy::Place;

use crate::facts::Facts;
use crate::finding::Notes;

/// A release of Envoy: 1.`minor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EnvoyVersion {
    /// 40 for 1.40.
    pub minor: u32,
}

/// The release that is modelled.
pub const LATEST: EnvoyVersion = EnvoyVersion { minor: 40 };

impl Default for EnvoyVersion {
    fn default() -> Self {
        LATEST
    }
}

impl fmt::Display for EnvoyVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.minor)
    }
}

impl FromStr for EnvoyVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let minor = text
            .strip_prefix("1.")
            .and_then(|rest| rest.split('.').next());
        let minor = minor
            .and_then(|minor| minor.parse().ok())
            .filter(|minor| (30..=LATEST.minor).contains(minor));
        let minor = minor.ok_or_else(|| format!("must be 1.30 to {LATEST}"))?;
        Ok(EnvoyVersion { minor })
    }
}

/// A field, the first release that has it, and what an older one does.
const SINCE: [(&str, u32, &str); 4] = [
    (
        "refresh_cluster_on_retry",
        39,
        "refuses to start with it, and without it no retry moves to another cluster",
    ),
    (
        "capability_restriction_config",
        40,
        "refuses to start with it here; it belongs into the plugin's config",
    ),
    (
        "request_body_buffer_limit",
        37,
        "takes it for retries only: bodies above 1 MiB get 413",
    ),
    (
        "allow_on_headers_stop_iteration",
        35,
        "drops it: requests with a body hang, or pass unread",
    ),
];

/// Fields that the oldest Envoy in use does not have, or reads otherwise.
pub fn too_new(facts: &Facts<'_>, oldest: EnvoyVersion, notes: &mut Notes) {
    if oldest < LATEST {
        walk(&facts.root, oldest, notes);
    }
}

fn walk(place: &Place<'_>, oldest: EnvoyVersion, notes: &mut Notes) {
    for (key, value) in place.entries() {
        let known = SINCE
            .iter()
            .find(|(field, since, _)| *field == key && oldest.minor < *since);
        // The restriction of capabilities is old in the plugin and new in the VM.
        let moved = key == "capability_restriction_config" && !value.path().contains("vm_config.");
        if let Some((field, since, what)) = known.filter(|_| !moved) {
            notes.error(
                "envoy-version",
                &value,
                format!("{field} came with Envoy 1.{since}: {oldest} {what}"),
                "run Envoy 1.39 or later; 1.40 is the tested one",
            );
        }
        walk(&value, oldest, notes);
    }
    for item in place.items() {
        walk(&item, oldest, notes);
    }
}
