//! Who comes in, what they can reach, and what nobody but the gateway sees of it.

mod credentials;
mod entitlements;
mod forgery;
mod issuers;
mod key_store;
mod leaks;
mod listeners;
mod made;
mod models;
mod refusals;
mod rotation;
mod spellings;
mod spelt;
mod switch;
mod tokens;
mod uploads;

use blackbox::{Document, Engine, Response, World, WorldBuilder};
use serde_json::{Value, json};

use crate::support::CHAT;

/// Of `team-a`, app `chatbot`.
const KEY_A: &str = "sk-a-7e1f0c5d9b2a";
/// Of `team-a` too, for `chat*` alone.
const KEY_NARROW: &str = "sk-narrow-48c0aa17";
/// Of `team-b`.
const KEY_B: &str = "sk-b-Qk3vT8wLzP";
/// Of `team-b`; it has expired.
const KEY_OLD: &str = "sk-old-55d1e0";
/// Of a tenant that is suspended.
const KEY_SUSPENDED: &str = "sk-suspended-90ab";
const KEYS: [&str; 5] = [KEY_A, KEY_NARROW, KEY_B, KEY_OLD, KEY_SUSPENDED];

/// Three tenants with keys. `w1` serves `chat` for all; `chat-a`, `code-a` and `embed-a` for
/// `team-a`, whose allowlist leaves the last one out; `chat-b` for `team-b`.
fn document(document: Document) -> Document {
    document
        .tenant("team-a", json!({"models": ["chat*", "code-a"]}))
        .tenant("team-b", json!({}))
        .tenant("team-c", json!({"status": "suspended"}))
        .key("k-a", KEY_A, "team-a", json!({"app": "chatbot"}))
        .key(
            "k-narrow",
            KEY_NARROW,
            "team-a",
            json!({"models": ["chat*"]}),
        )
        .key("k-b", KEY_B, "team-b", json!({}))
        .key(
            "k-old",
            KEY_OLD,
            "team-b",
            json!({"expires_at": "2020-01-01T00:00:00Z"}),
        )
        .key("k-suspended", KEY_SUSPENDED, "team-c", json!({}))
}

fn builder(engine: Engine) -> WorldBuilder {
    with_auth(engine, json!({}))
}

/// The same, with these fields of `auth` beside the keys.
fn with_auth(engine: Engine, fields: Value) -> WorldBuilder {
    let of = |tenant: &str| json!({"tenant": tenant});
    World::on(engine)
        .with("auth", fields)
        .worker("w1")
        .document(document)
        .endpoint("chat", &[("w1", "large")])
        .endpoint_with("chat-a", &[("w1", "large")], of("team-a"))
        .endpoint_with("code-a", &[("w1", "large")], of("team-a"))
        .endpoint_with("embed-a", &[("w1", "large")], of("team-a"))
        .endpoint_with("chat-b", &[("w1", "large")], of("team-b"))
}

fn callers(engine: Engine) -> World {
    builder(engine).start()
}

fn bearer(key: &str) -> String {
    format!("authorization: Bearer {key}")
}

/// A chat with these header lines.
fn chat_with(world: &World, lines: &[&str]) -> Response {
    world.request("POST", "/v1/chat/completions", lines, CHAT.as_bytes())
}

fn get_as(world: &World, key: &str, path: &str) -> Response {
    world.request("GET", path, &[&bearer(key)], b"")
}

fn id(response: &Response) -> String {
    let id = response.header("x-request-id");
    id.expect("every answer has an id")
}

/// All of an answer but its request id and its date.
fn comparable(response: Response) -> (u16, Vec<(String, Vec<u8>)>, String) {
    let id = id(&response);
    let text = response.text().replace(&id, "<id>");
    let mut headers = response.headers;
    headers.retain(|(name, _)| !matches!(name.as_str(), "date" | "x-request-id"));
    (response.status, headers, text)
}
