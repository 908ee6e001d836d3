//! Once a byte has reached the client, nobody else is tried (C78).

use std::time::Duration;

use blackbox::client::Piece;
use blackbox::{At, End, Engine, Faults, How, World, both_engines};

use crate::support::{STREAMED_CHAT, chat_request, two_workers};

both_engines![
    a_stream_that_is_reset_ends_abruptly_and_nobody_else_is_tried,
    a_stream_that_is_closed_ends_abruptly_and_nobody_else_is_tried,
    a_stream_that_falls_silent_ends_abruptly_and_nobody_else_is_tried,
    an_event_that_is_not_json_passes_to_the_end,
    an_answer_that_breaks_off_in_its_body_is_seen_as_broken_off,
    a_client_that_leaves_takes_the_workers_request_with_it,
];

/// Longest wait for what happens at once.
const PATIENCE: Duration = Duration::from_secs(10);

/// Two events, then `how`: the client sees exactly these and a connection that breaks off.
fn breaks_off(world: &World, how: How) {
    world.fail("w1", Faults::interrupt(At::Events(2), how));

    let response = world.chat(STREAMED_CHAT);

    assert_eq!(
        (response.status, response.end),
        (200, End::BrokenOff),
        "{response:?}"
    );
    assert_eq!(
        response.text().matches("data: {").count(),
        2,
        "{response:?}"
    );
    assert!(!response.text().contains("[DONE]"), "{response:?}");
    assert_eq!(world.hits(), [1, 0], "nobody else is tried");
    let line = world.log().request(
        &response
            .header("x-request-id")
            .expect("every answer has an id"),
    );
    assert_eq!(line["tried"], "w1=200:cut", "{line}");
}

fn a_stream_that_is_reset_ends_abruptly_and_nobody_else_is_tried(engine: Engine) {
    breaks_off(&two_workers(engine), How::Reset);
}

fn a_stream_that_is_closed_ends_abruptly_and_nobody_else_is_tried(engine: Engine) {
    breaks_off(&two_workers(engine), How::Close);
}

fn a_stream_that_falls_silent_ends_abruptly_and_nobody_else_is_tried(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .worker("w2")
        .endpoint("chat", &[("w1", "large"), ("w2", "medium")])
        .replace_in_yaml("per_try_idle_timeout: 600s", "per_try_idle_timeout: 1.5s")
        .start();
    breaks_off(&world, How::Stall);
}

fn an_event_that_is_not_json_passes_to_the_end(engine: Engine) {
    let world = two_workers(engine);
    world.fail(
        "w1",
        Faults {
            broken_event_after: Some(2),
            ..Faults::default()
        },
    );

    let response = world.chat(STREAMED_CHAT);

    assert_eq!((response.status, response.end), (200, End::Complete));
    let text = response.text();
    assert!(
        text.contains("data: {\"broken\n\n") && text.ends_with("data: [DONE]\n\n"),
        "{text}"
    );
    assert_eq!(world.hits(), [1, 0]);
}

fn an_answer_that_breaks_off_in_its_body_is_seen_as_broken_off(engine: Engine) {
    let world = two_workers(engine);
    world.fail("w1", Faults::interrupt(At::Bytes(10), How::Close));

    let response = world.chat(crate::support::CHAT);

    assert_eq!(
        (response.status, response.end, response.body.len()),
        (200, End::BrokenOff, 10)
    );
    assert_eq!(world.hits(), [1, 0]);
}

fn a_client_that_leaves_takes_the_workers_request_with_it(engine: Engine) {
    let world = two_workers(engine);
    world.fail("w1", Faults::interrupt(At::Events(1), How::Stall));
    let mut client = world.connect();
    client.send(chat_request(STREAMED_CHAT));
    let head = client.head();
    assert!(matches!(client.piece(&mut head.rest()), Piece::Data(..)));

    client.abort();

    assert!(
        world.worker("w1").wait_until_left(PATIENCE),
        "the worker still generates for nobody"
    );
    let line = world
        .log()
        .request(&head.header("x-request-id").expect("every answer has an id"));
    assert_eq!(line["code"], 200, "{line}");
    assert_eq!(world.hits(), [1, 0]);
}
