//! A chain in which a filter is missing: what needs it refuses, and no worker is reached.

use blackbox::world::request;
use blackbox::{Engine, World, WorldBuilder, both_engines};
use serde_json::json;

use crate::support::{CHAT, refused};

both_engines![
    what_needs_the_request_record_refuses_without_alias,
    without_select_no_route_leads_to_a_worker,
    without_the_section_an_idempotency_key_means_nothing,
];

/// `chat` is served by `w1`; the module of a filter is one that does nothing.
fn without(engine: Engine, module: &'static str) -> WorldBuilder {
    World::on(engine)
        .with("idempotency", json!({}))
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .replace_in_yaml(module, "/guests/idle.wasm")
}

fn keyed() -> Vec<u8> {
    let lines = ["content-type: application/json", "idempotency-key: k-1"];
    request("POST", "/v1/chat/completions", &lines, CHAT.as_bytes())
}

fn what_needs_the_request_record_refuses_without_alias(engine: Engine) {
    let world = without(engine, "/alias.wasm").start();
    assert_eq!(
        world.chat(CHAT).outcome(),
        refused(500, "misconfigured"),
        "select"
    );
    let response = world.connect().send(keyed()).response();
    assert_eq!(
        response.outcome(),
        refused(500, "misconfigured"),
        "idempotency"
    );
    assert_eq!(world.hits(), [0]);
}

fn without_select_no_route_leads_to_a_worker(engine: Engine) {
    let world = without(engine, "/select.wasm").start();
    assert_eq!(world.chat(CHAT).outcome(), refused(503, "gateway_error"));
    assert_eq!(world.hits(), [0]);
}

fn without_the_section_an_idempotency_key_means_nothing(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .start();
    for count in 1..=2 {
        let response = world.connect().send(keyed()).response();
        assert_eq!((response.status, world.hits()), (200, vec![count]));
        assert_eq!(response.header("idempotency-replayed"), None);
    }
}
