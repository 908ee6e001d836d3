//! Who is admitted how often, and what clients are told of it.

mod headers;
mod limits;
mod switch;
mod threads;

use blackbox::{Document, Engine, Response, World, WorldBuilder};
use serde_json::{Value, json};

use crate::support::CHAT;

/// Of `team-a`, app `chatbot`.
const KEY_A: &str = "sk-a-9f2e71";
/// Of the same app.
const KEY_A2: &str = "sk-a2-03c5d8";
/// Of `team-a`, app `batch`.
const KEY_BATCH: &str = "sk-batch-66b1";
/// Of `team-b`, app `chatbot`.
const KEY_B: &str = "sk-b-e80a47";

/// So slow that no test sees a token come back.
const NEVER: f64 = 0.001;

fn limit(name: &str, by: &[&str], per_second: f64, burst: u32) -> Value {
    json!({"name": name, "by": by, "rate": {"per_second": per_second, "burst": burst}})
}

fn callers(document: Document) -> Document {
    let of = |app: &str| json!({"app": app});
    document
        .tenant("team-a", json!({}))
        .tenant("team-b", json!({}))
        .key("k-a", KEY_A, "team-a", of("chatbot"))
        .key("k-a2", KEY_A2, "team-a", of("chatbot"))
        .key("k-batch", KEY_BATCH, "team-a", of("batch"))
        .key("k-b", KEY_B, "team-b", of("chatbot"))
}

/// Four callers of two tenants; `w1` serves `chat`.
fn builder(engine: Engine, limits: &[Value]) -> WorldBuilder {
    World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .document(callers)
        .with("limits", json!(limits))
}

fn bearer(key: &str) -> String {
    format!("authorization: Bearer {key}")
}

/// A chat with these header lines.
fn chat_with(world: &World, lines: &[&str]) -> Response {
    world.request("POST", "/v1/chat/completions", lines, CHAT.as_bytes())
}

fn ask(world: &World, key: &str) -> Response {
    chat_with(world, &[&bearer(key)])
}

/// Limit, remaining and reset.
fn told(response: &Response) -> [Option<String>; 3] {
    ["limit", "remaining", "reset"]
        .map(|name| response.header(&format!("x-ratelimit-{name}-requests")))
}
