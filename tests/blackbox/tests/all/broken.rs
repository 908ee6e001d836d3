//! What was found by trying to break the gateway.

use std::time::Duration;

use blackbox::{At, Engine, Faults, How, World, both_engines, envoy_only, h2};
use serde_json::json;

use crate::support::{CHAT, two_workers};

both_engines![
    a_worker_behind_an_envoy_that_limits_it_is_followed_by_the_next,
    a_worker_that_repeats_its_credential_does_not_show_it_to_the_client,
    a_body_in_another_encoding_goes_nowhere,
];
envoy_only!["host-sim speaks HTTP/1.1 alone": clients_that_cancel_over_http2_do_not_open_a_circuit];

/// Longest wait for a worker to hear of something.
const PATIENCE: Duration = Duration::from_secs(20);

fn with_headers(status: u16, lines: &[(&str, &str)]) -> Faults {
    let lines = lines
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Faults {
        headers: lines.collect(),
        ..Faults::status(status)
    }
}

fn a_worker_behind_an_envoy_that_limits_it_is_followed_by_the_next(engine: Engine) {
    let world = two_workers(engine);
    for status in [429, 503] {
        world.fail(
            "w1",
            with_headers(status, &[("x-envoy-ratelimited", "true")]),
        );
        let response = world.chat(CHAT);
        assert_eq!(
            response.content(),
            "hello from w2",
            "{status}: {response:?}"
        );
    }
    world.fail("w2", with_headers(429, &[("x-envoy-overloaded", "true")]));
    let response = world.chat(CHAT);
    assert_eq!(response.status, 429);
    assert!(
        response
            .headers
            .iter()
            .all(|(name, _)| !name.starts_with("x-envoy-")),
        "{response:?}"
    );
}

fn a_worker_that_repeats_its_credential_does_not_show_it_to_the_client(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .start();
    let lines = [
        ("authorization", "Bearer of-w1"),
        ("x-api-key", "of-w1"),
        ("api-key", "of-w1"),
        ("x-kept", "kept"),
    ];
    world.fail("w1", with_headers(200, &lines));
    let response = world.chat(CHAT);
    assert_eq!(
        response.header("x-kept").as_deref(),
        Some("kept"),
        "{response:?}"
    );
    assert!(
        response
            .headers
            .iter()
            .all(|(_, value)| !value.ends_with(b"of-w1")),
        "{response:?}"
    );
}

/// In UTF-7 this asks for another model than in UTF-8.
fn a_body_in_another_encoding_goes_nowhere(engine: Engine) {
    let world = two_workers(engine);
    let body = br#"{"model":"chat","x":"+ACI-,+ACI-model+ACI-:+ACI-other"}"#;
    for (content_type, status) in [
        ("content-type: application/json; charset=utf-7", 415),
        ("content-type: application/json; charset=UTF-8", 200),
    ] {
        let response = world.request("POST", "/v1/chat/completions", &[content_type], body);
        assert_eq!(response.status, status, "{content_type}: {response:?}");
    }
    assert_eq!(world.hits(), [1, 0]);
}

/// A cancelled HTTP/2 stream is `http2.remote_reset`, no disconnection.
fn clients_that_cancel_over_http2_do_not_open_a_circuit(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .with("circuit", json!({"threshold": 1, "cooldown_seconds": 3600}))
        .start();
    for how in [
        Faults::interrupt(At::BeforeHeaders, How::Stall),
        Faults::interrupt(At::Events(1), How::Stall),
    ] {
        world.fail("w1", how);
        let before = world.worker("w1").requests().len();
        let body = br#"{"model":"chat","stream":true}"#;
        h2::post_and_cancel(world.address(), "/v1/chat/completions", body, || {
            world.worker("w1").requests().len() > before
        });
        assert!(world.worker("w1").wait_until_left(PATIENCE));
        world.worker("w1").clear_faults();
        // `select` looks at circuits every 100 ms.
        std::thread::sleep(Duration::from_millis(150));
        assert_eq!(world.chat(CHAT).status, 200);
    }
}
