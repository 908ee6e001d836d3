//! How long a stream may say nothing, and what holds a request back.

use blackbox::world::request;
use blackbox::{Engine, Faults, Guest, World, WorldBuilder, both_engines};

use crate::support::{CHAT, chat_request};

both_engines![
    a_worker_may_think_longer_than_a_client_may_stall,
    an_upload_that_stalls_ends_within_the_idle_limit,
    a_pause_in_the_header_callback_alone_lets_a_body_through,
    without_the_headers_stop_flag_a_pause_holds_everything,
    without_the_headers_stop_flag_no_request_hangs_beyond_the_idle_limit,
];

/// A world whose streams end after 1 s of silence unless they are on their way to a worker.
fn impatient(engine: Engine) -> WorldBuilder {
    World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .replace_in_yaml("stream_idle_timeout: 60s", "stream_idle_timeout: 1s")
}

fn a_worker_may_think_longer_than_a_client_may_stall(engine: Engine) {
    let world = impatient(engine).start();
    world.fail("w1", Faults::delay_ms(2500));

    assert_eq!(world.chat(CHAT).content(), "hello from w1");
}

fn an_upload_that_stalls_ends_within_the_idle_limit(engine: Engine) {
    let world = impatient(engine).start();
    let bytes = chat_request(CHAT);

    let response = world.connect().send(&bytes[..bytes.len() - 5]).response();

    assert!(matches!(response.status, 408 | 504), "{response:?}");
    assert!(!response.error_code().is_empty(), "{response:?}");
    assert_eq!(world.hits(), [0]);
}

/// Why every filter that waits has to say so in its body callback too.
fn a_pause_in_the_header_callback_alone_lets_a_body_through(engine: Engine) {
    let world = impatient(engine).guest(Guest::downstream("obey")).start();

    let with_body = world.request(
        "POST",
        "/v1/chat/completions",
        &["x-test: pause"],
        CHAT.as_bytes(),
    );
    let without = world
        .connect()
        .send(request("GET", "/v1/models", &["x-test: pause"], b""))
        .response();

    assert_eq!(with_body.status, 200, "{with_body:?}");
    assert!(matches!(without.status, 408 | 504), "{without:?}");
}

/// C04
fn without_the_headers_stop_flag_a_pause_holds_everything(engine: Engine) {
    let world = impatient(engine)
        .guest(Guest::downstream("obey").without_headers_stop())
        .start();

    let response = world.request(
        "POST",
        "/v1/chat/completions",
        &["x-test: pause"],
        CHAT.as_bytes(),
    );

    assert!(matches!(response.status, 408 | 504), "{response:?}");
    assert_eq!(world.hits(), [0]);
}

/// C04: the body that `alias` waits for never comes.
fn without_the_headers_stop_flag_no_request_hangs_beyond_the_idle_limit(engine: Engine) {
    let world = impatient(engine)
        .edit_yaml(|yaml| {
            yaml.replace(
                "allow_on_headers_stop_iteration: true",
                "allow_on_headers_stop_iteration: false",
            )
        })
        .start();

    let response = world.chat(CHAT);

    assert!(matches!(response.status, 408 | 504), "{response:?}");
    assert_eq!(world.hits(), [0]);
}
