//! A gateway with three tenants, and requests to it.
#![allow(dead_code, reason = "each test file needs a part of it")]

pub mod sign;

use std::collections::BTreeMap;
use std::rc::Rc;

use dragoman_auth::Auth;
use dragoman_sdk::fake::{Exchange, FakeHost};
use dragoman_sdk::{Filter, Plugin};
use sha2::{Digest, Sha256};

pub const KEY_A: &str = "key-a";
pub const KEY_B: &str = "key-b";
/// Of `team-b`; expires with the year 2025.
pub const KEY_OLD: &str = "key-old";
/// Of a tenant that is suspended.
pub const KEY_SLEEPING: &str = "key-sleeping";

/// `{...}` stand for digests.
pub const CONFIG: &str = r#"{
  "version": 1, "workers": [], "endpoints": [],
  "tenants": [{"id": "team-a", "models": ["chat-*", "embed"]}, {"id": "team-b"},
              {"id": "team-c", "status": "suspended"}],
  "auth": {"mode": "on", "max_uploads": 2, "keys": [
    {"id": "k-a", "sha256": "{key-a}", "tenant": "team-a", "app": "chatbot", "models": ["chat-*"]},
    {"id": "k-b", "sha256": "{key-b}", "tenant": "team-b", "app": "batch"},
    {"id": "k-old", "sha256": "{key-old}", "tenant": "team-b", "app": "batch", "expires_at": "2026-01-01T00:00:00Z"},
    {"id": "k-c", "sha256": "{key-sleeping}", "tenant": "team-c", "app": "x"}]}
}"#;

pub type Head<'a> = Vec<(&'a str, &'a str)>;

pub fn hex(key: &str) -> String {
    let digest = Sha256::digest(key.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn configured(config: &str) -> Rc<Auth> {
    let mut config = config.to_owned();
    for key in [KEY_A, KEY_B, KEY_OLD, KEY_SLEEPING] {
        config = config.replace(&format!("{{{key}}}"), &hex(key));
    }
    Rc::new(Auth::configure(config.as_bytes(), &BTreeMap::new()).unwrap())
}

pub fn auth() -> Rc<Auth> {
    configured(CONFIG)
}

pub fn exchange(auth: &Rc<Auth>, host: FakeHost) -> Exchange<impl Filter + use<>> {
    Exchange::new(auth, host)
}

/// A request of which the head has come and a body is to follow.
pub fn asked(head: &[(&str, &str)]) -> Exchange<impl Filter + use<>> {
    let mut it = exchange(&auth(), FakeHost::new(head));
    it.headers(false);
    it
}

fn head<'a>(method: &'a str, path: &'a str, lines: &[(&'a str, &'a str)]) -> Head<'a> {
    let mut head = vec![(":method", method), (":path", path), ("x-request-id", "r1")];
    head.extend(lines);
    head
}

pub fn post<'a>(path: &'a str, lines: &[(&'a str, &'a str)]) -> Head<'a> {
    head("POST", path, lines)
}

pub fn get<'a>(path: &'a str, lines: &[(&'a str, &'a str)]) -> Head<'a> {
    head("GET", path, lines)
}
