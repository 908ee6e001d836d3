//! C11: what one trap means for every later request, by `failure_policy`. The shipped chain has FAIL_RELOAD throughout.

use blackbox::plugin::probe;
use blackbox::raw::before_the_chain;
use blackbox::{Engine, World, both_engines};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

use crate::support::{CHAT, refused};

both_engines![
    with_fail_reload_only_the_request_that_traps_fails,
    with_fail_closed_every_later_request_of_that_thread_fails,
    with_fail_open_later_requests_pass_without_the_filter,
    the_other_thread_serves_on,
];

/// Longest wait for a VM to be loaded again.
const PATIENCE: Duration = Duration::from_secs(10);

/// The shipped chain behind a filter that traps when a request has the header `x-boom`.
fn trapping(engine: Engine, policy: &'static str, threads: u32) -> World {
    let reload = match policy {
        "FAIL_RELOAD" => json!({"backoff": {"base_interval": "0.1s"}}),
        _ => Value::Null,
    };
    World::on(engine)
        .concurrency(threads)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .edit_yaml_with(move |yaml, _| {
            let plugin = probe("trapping", &["trap x-boom"])
                .field("failure_policy", json!(policy))
                .field("reload_config", reload.clone());
            before_the_chain(&yaml, &plugin)
        })
        .start()
}

/// Four good requests, then one that traps.
fn trapped(engine: Engine, policy: &'static str) -> World {
    let world = trapping(engine, policy, 1);
    for _ in 0..4 {
        assert_eq!(world.chat(CHAT).status, 200);
    }
    // The first load counts as one for the back-off.
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(boom(&world), refused(503, "gateway_error"));
    world
}

fn boom(world: &World) -> (u16, String) {
    let lines = ["content-type: application/json", "x-boom: 1"];
    let response = world.request("POST", "/v1/chat/completions", &lines, CHAT.as_bytes());
    response.outcome()
}

fn with_fail_reload_only_the_request_that_traps_fails(engine: Engine) {
    let world = trapped(engine, "FAIL_RELOAD");
    for _ in 0..20 {
        assert_eq!(world.chat(CHAT).status, 200);
    }
    assert_eq!(world.hits(), [24]);
}

fn with_fail_closed_every_later_request_of_that_thread_fails(engine: Engine) {
    let world = trapped(engine, "FAIL_CLOSED");
    for _ in 0..20 {
        assert_eq!(world.chat(CHAT).outcome(), refused(503, "gateway_error"));
    }
    assert_eq!(world.hits(), [4]);
}

fn with_fail_open_later_requests_pass_without_the_filter(engine: Engine) {
    let world = trapped(engine, "FAIL_OPEN");
    for _ in 0..10 {
        assert_eq!(world.chat(CHAT).status, 200);
        assert_eq!(boom(&world).0, 200, "nobody is there to trap");
    }
    assert_eq!(world.hits(), [24]);
}

fn the_other_thread_serves_on(engine: Engine) {
    let world = trapping(engine, "FAIL_CLOSED", 2);
    boom(&world);
    let until = Instant::now() + PATIENCE;
    let (mut served, mut failed) = (false, false);
    while !(served && failed) {
        assert!(Instant::now() < until, "served {served}, failed {failed}");
        match world.chat(CHAT).status {
            200 => served = true,
            503 => failed = true,
            other => panic!("{other}"),
        }
    }
}
