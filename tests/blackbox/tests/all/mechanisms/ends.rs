//! The end of a stream: who sees it, and what of it still reaches the access log.

use blackbox::{At, Engine, Faults, How, World, both_engines};
use serde_json::{Value, json};

use crate::support::{CHAT, STREAMED_CHAT, chat_request};
use blackbox::plugin::probe;
use blackbox::raw::{Choice, Raw};

both_engines![
    a_filter_sees_the_end_of_a_request_it_never_saw,
    what_the_end_of_an_attempt_publishes_is_logged_unless_the_client_left,
];

fn a_filter_sees_the_end_of_a_request_it_never_saw(engine: Engine) {
    let world = World::on(engine).worker("w1").start_yaml(|places| {
        Raw::new(places)
            .filter(&probe("filter", &["notes", "note"]))
            .cluster("workers", Choice::RoundRobin, &["w1"], &[])
            .yaml()
    });

    let refused = world.connect().send("this is not HTTP\r\n\r\n").response();

    assert_eq!(refused.status, 400);
    let notes = world.get("/notes").text();
    let first = notes.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("attempt= status=- complete=false details=http1.codec_error "),
        "{notes:?}"
    );
}

fn world(engine: Engine) -> World {
    World::on(engine).worker("w1").start_yaml(|places| {
        Raw::new(places)
            .filter(&probe("filter", &["log test.log logged"]))
            .cluster(
                "workers",
                Choice::RoundRobin,
                &["w1"],
                &[probe("attempt", &["finish test.done finished"])],
            )
            .log("in_log", "%FILTER_STATE(wasm.test.log:PLAIN)%")
            .log("in_done", "%FILTER_STATE(wasm.test.done:PLAIN)%")
            .yaml()
    })
}

fn what_the_end_of_an_attempt_publishes_is_logged_unless_the_client_left(engine: Engine) {
    let world = world(engine);
    let published = |line: Value| [line["in_log"].clone(), line["in_done"].clone()];

    let response = world.chat(CHAT);
    let id = response.header("x-request-id").expect("an id");
    let line = world.log().request(&id);
    assert_eq!(published(line), [json!("logged"), json!("finished")]);

    world.fail("w1", Faults::interrupt(At::Events(1), How::Hold));
    let mut client = world.connect();
    client.send(chat_request(STREAMED_CHAT));
    let head = client.head();
    client.abort();
    let id = head.header("x-request-id").expect("an id");
    let line = world.log().request(&id);
    assert_eq!(published(line), [json!("logged"), Value::Null]);
}
