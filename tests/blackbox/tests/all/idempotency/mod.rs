//! Requests with an idempotency key: carried out once, and answered again from what was kept.

mod bound;
mod conflicts;
mod endings;
mod replays;

use blackbox::world::request;
use blackbox::{Engine, Response, World, WorldBuilder};
use serde_json::{Value, json};

use crate::support::CHAT;

const PATH: &str = "/v1/chat/completions";

/// `chat` is served by `w1`.
fn builder(engine: Engine, section: Value) -> WorldBuilder {
    World::on(engine)
        .with("idempotency", section)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
}

fn gateway(engine: Engine) -> World {
    builder(engine, json!({})).start()
}

/// The bytes of a request with this key.
fn keyed(key: &str, body: &str) -> Vec<u8> {
    let key = format!("idempotency-key: {key}");
    let lines = ["content-type: application/json", &key];
    request("POST", PATH, &lines, body.as_bytes())
}

fn send(world: &World, key: &str, body: &str) -> Response {
    world.connect().send(keyed(key, body)).response()
}

/// A chat with this key.
fn chat(world: &World, key: &str) -> Response {
    send(world, key, CHAT)
}

/// What the access log says of the key of a request.
fn word(world: &World, response: &Response) -> Value {
    let id = response.header("x-request-id");
    let line = world.log().request(&id.expect("every answer has an id"));
    line["idempotency"].clone()
}

/// Whether an answer was kept from before.
fn is_replayed(response: &Response) -> bool {
    response.header("idempotency-replayed").as_deref() == Some("true")
}
