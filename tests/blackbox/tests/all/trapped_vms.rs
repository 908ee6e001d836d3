//! What a trapped VM leaves behind heals by itself: loads, claims, the lease of the checks.

use std::time::{Duration, Instant};

use blackbox::world::request;
use blackbox::{At, Engine, Faults, How, World, both_engines};
use serde_json::json;

use crate::support::{CHAT, chat_request};

both_engines![
    what_a_trapped_attempt_had_in_flight_is_forgotten,
    a_claim_of_a_trapped_vm_is_free_after_its_lease,
    another_thread_checks_the_workers_when_the_one_that_did_trapped,
];

/// Longest wait for something that heals within about ten seconds by itself.
const PATIENCE: Duration = Duration::from_secs(40);

/// Traps the VM of a filter; the request itself is lost.
fn trap(world: &World, filter: &str) {
    let lines = [
        "content-type: application/json",
        &format!("x-test-trap: {filter}"),
    ];
    let _ = world.request("POST", "/v1/chat/completions", &lines, CHAT.as_bytes());
}

/// Repeats until it holds.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn what_a_trapped_attempt_had_in_flight_is_forgotten(engine: Engine) {
    let world = World::on(engine)
        .trappable()
        .worker("w1")
        .capped(1)
        .worker("w2")
        .endpoint("chat", &[("w2", "medium")])
        .endpoint("capped", &[("w1", "large")])
        .start();
    let capped = CHAT.replace("chat", "capped");
    world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Stall));
    let mut held = world.connect();
    held.send(chat_request(&capped));
    assert!(
        world
            .worker("w1")
            .wait_until(PATIENCE, |recorded| recorded.len() == 1)
    );
    assert_eq!(world.chat(&capped).status, 503, "the worker is at its cap");

    trap(&world, "attempt");
    held.abort();
    world.worker("w1").clear_faults();
    until("the load of the trapped VM is never forgotten", || {
        world.chat(&capped).status == 200
    });
}

fn a_claim_of_a_trapped_vm_is_free_after_its_lease(engine: Engine) {
    let world = World::on(engine)
        .trappable()
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .with("idempotency", json!({"lease_s": 10}))
        .start();
    let keyed = || {
        let lines = ["content-type: application/json", "idempotency-key: k-1"];
        request("POST", "/v1/chat/completions", &lines, CHAT.as_bytes())
    };
    world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Stall));
    let mut held = world.connect();
    held.send(keyed());
    assert!(
        world
            .worker("w1")
            .wait_until(PATIENCE, |recorded| recorded.len() == 1)
    );

    trap(&world, "idempotency");
    held.abort();
    world.worker("w1").clear_faults();
    // Until the VM is loaded again the answer is 503.
    until("the claim is not kept", || {
        let status = world.connect().send(keyed()).response().status;
        assert_ne!(status, 200, "the request ran twice while it was claimed");
        status == 409
    });
    until("the claim of the trapped VM never ends", || {
        world.connect().send(keyed()).response().status == 200
    });
}

/// C13
fn another_thread_checks_the_workers_when_the_one_that_did_trapped(engine: Engine) {
    let world = World::on(engine)
        .trappable()
        .concurrency(2)
        .worker("w1")
        .worker("w2")
        .endpoint("chat", &[("w1", "large"), ("w2", "medium")])
        .with(
            "health",
            json!({"health_check_seconds": 1, "timeout_ms": 500}),
        )
        .start();
    let answered_by = || {
        world
            .chat(CHAT)
            .header("x-aisuite-backend")
            .unwrap_or_default()
    };
    until("w1 is never ready", || answered_by() == "w1");
    for drained in [true, false] {
        let reloads = traps(&world);
        trap(&world, "poll");
        until("no copy of poll trapped", || traps(&world) > reloads);
        world
            .worker("w1")
            .with(|worker| worker.set_draining(drained));
        let expected = if drained { "w2" } else { "w1" };
        until("nobody checks any more", || answered_by() == expected);
    }
}

/// How often a VM trapped, by what the gateway wrote.
fn traps(world: &World) -> usize {
    world.output().matches("unreachable").count()
}
