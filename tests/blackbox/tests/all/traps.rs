//! A filter that traps: what is lost, and that it is no more than that.

use std::time::{Duration, Instant};

use blackbox::world::request;
use blackbox::{Connection, Engine, Guest, World, both_engines};

use crate::support::{CHAT, chat_request, refused};

both_engines![
    after_a_trap_later_requests_are_served,
    streams_paused_in_a_vm_that_trapped_end_within_the_idle_limit,
    a_trap_in_an_attempt_is_not_retried_and_later_requests_are_served,
];

/// Longest time until a trapped VM is replaced; the interval is 0.1 s.
const PATIENCE: Duration = Duration::from_secs(10);

fn asking(test: &str) -> Vec<u8> {
    request(
        "POST",
        "/v1/chat/completions",
        &[&format!("x-test: {test}")],
        CHAT.as_bytes(),
    )
}

/// Asks until it is served; until then there is no other answer than the trap's.
fn is_served_again(world: &World) {
    let until = Instant::now() + PATIENCE;
    loop {
        let response = world.chat(CHAT);
        if response.status == 200 {
            return;
        }
        assert_eq!(response.outcome(), refused(503, "gateway_error"));
        assert!(Instant::now() < until, "the filter does not come back");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn after_a_trap_later_requests_are_served(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .guest(Guest::downstream("obey"))
        .start();
    assert_eq!(world.chat(CHAT).status, 200);

    let trapped = world.connect().send(asking("trap")).response();

    assert_eq!(trapped.outcome(), refused(503, "gateway_error"));
    assert_eq!(trapped.header("retry-after").as_deref(), Some("1"));
    assert_eq!(world.hits(), [1], "the request that trapped reaches nobody");
    is_served_again(&world);
}

fn streams_paused_in_a_vm_that_trapped_end_within_the_idle_limit(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .guest(Guest::downstream("obey"))
        .replace_in_yaml("stream_idle_timeout: 60s", "stream_idle_timeout: 3s")
        .start();
    let mut paused: Vec<Connection> = (0..3).map(|_| world.connect()).collect();
    for client in &mut paused {
        client.send(request("GET", "/v1/models", &["x-test: pause"], b""));
    }
    // Answered on the same thread, after the three above were read.
    assert_eq!(
        world.connect().send(chat_request(CHAT)).response().status,
        200
    );

    let trapped = world.connect().send(asking("trap")).response();

    assert_eq!(trapped.status, 503);
    is_served_again(&world);
    for client in &mut paused {
        assert_eq!(client.response().outcome(), refused(503, "gateway_error"));
    }
}

fn a_trap_in_an_attempt_is_not_retried_and_later_requests_are_served(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .worker("w2")
        .endpoint("chat", &[("w1", "large"), ("w2", "medium")])
        .guest(Guest::upstream("obey"))
        .start();

    let trapped = world.connect().send(asking("trap")).response();

    assert_eq!(trapped.status, 503, "{trapped:?}");
    assert!(!trapped.error_code().is_empty(), "{trapped:?}");
    assert_eq!(world.hits(), [0, 0]);
    is_served_again(&world);
}
