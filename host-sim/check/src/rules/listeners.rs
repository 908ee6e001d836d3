//! Who can reach what is not for everybody.

use std::net::SocketAddr;

use super::Rule;
use super::manager::role;
use crate::facts::{Facts, address};
use crate::finding::Notes;

pub const RULES: &[Rule] = &[admin, internal];

fn is_local(address: Option<SocketAddr>) -> bool {
    address.is_none_or(|address| address.ip().is_loopback())
}

/// Whoever reaches the admin endpoints can stop Envoy and read its configuration.
fn admin(facts: &Facts<'_>, notes: &mut Notes) {
    let Some(at) = facts.root.get("admin.address") else {
        return;
    };
    if !is_local(address(&at)) {
        notes.warning("admin", &at, "is not loopback: whoever reaches it can stop Envoy, drain it and read the whole configuration", "address: 127.0.0.1, and a tunnel for whoever needs it");
    }
}

/// A listener that says it is internal is reached from this machine only.
fn internal(facts: &Facts<'_>, notes: &mut Notes) {
    for listener in facts
        .listeners
        .iter()
        .filter(|listener| role(listener) == Some("internal"))
    {
        let Some(at) = listener.at.get("address") else {
            continue;
        };
        if !is_local(address(&at)) {
            notes.error("internal-listener", &at, "is not loopback, though the listener's metadata says that it is internal: what it offers is not protected like the public one", "address: 127.0.0.1");
        }
    }
}
