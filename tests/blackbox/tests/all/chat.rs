//! The road of one request: chat, stream, model list, and what is not served.

use blackbox::client::Piece;
use blackbox::world::request;
use blackbox::{At, End, Engine, Faults, How, World, both_engines};
use serde_json::Value;

both_engines![
    a_chat_is_answered_by_the_worker_under_the_name_it_serves,
    a_streamed_chat_arrives_chunk_by_chunk,
    the_model_list_names_the_endpoints,
    an_unknown_model_is_not_found,
    an_unknown_path_is_not_found,
    a_model_given_twice_is_refused,
];

fn one_worker(engine: Engine) -> World {
    World::on(engine)
        .worker("w1")
        .endpoint("chat-standard", &[("w1", "backend-model-large")])
        .start()
}

fn a_chat_is_answered_by_the_worker_under_the_name_it_serves(engine: Engine) {
    let world = one_worker(engine);

    let response =
        world.chat(r#"{"model":"chat-standard","messages":[{"role":"user","content":"hi"}]}"#);

    assert_eq!(
        (response.status, response.content().as_str()),
        (200, "hello from w1")
    );
    let requests = world.worker("w1").requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(
        String::from_utf8_lossy(&requests[0].body),
        r#"{"model":"backend-model-large","messages":[{"role":"user","content":"hi"}]}"#
    );
}

/// C97
fn a_streamed_chat_arrives_chunk_by_chunk(engine: Engine) {
    let world = one_worker(engine);
    world.fail("w1", Faults::interrupt(At::Events(1), How::Hold));
    let mut client = world.connect();

    client.send(chat_request(
        r#"{"model":"chat-standard","messages":[],"stream":true}"#,
    ));
    let head = client.head();
    let mut rest = head.rest();
    let Piece::Data(first) = client.piece(&mut rest) else {
        panic!("no first event")
    };
    world.worker("w1").release();
    let tail = client.to_end(&mut rest);

    assert_eq!(head.status, 200);
    assert!(
        first.starts_with(b"data: {") && first.ends_with(b"\n\n"),
        "{}",
        String::from_utf8_lossy(&first)
    );
    assert_eq!(
        first.windows(2).filter(|pair| pair == b"\n\n").count(),
        1,
        "one event, the rest was held"
    );
    assert!(
        tail.0.ends_with(b"data: [DONE]\n\n"),
        "{}",
        String::from_utf8_lossy(&tail.0)
    );
    assert_eq!(tail.1, End::Complete);
}

fn the_model_list_names_the_endpoints(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .endpoint("chat-standard", &[("w1", "large")])
        .endpoint("chat-small", &[("w1", "small")])
        .start();

    let response = world.get("/v1/models");

    assert_eq!(response.status, 200);
    let list = response.json();
    assert_eq!(list["object"], "list");
    let ids: Vec<_> = list["data"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|model| model["id"].clone())
        .collect();
    assert_eq!(
        ids,
        [Value::from("chat-standard"), Value::from("chat-small")]
    );
    assert_eq!(world.hits(), [0]);
}

fn an_unknown_model_is_not_found(engine: Engine) {
    let world = one_worker(engine);

    let response = world.chat(r#"{"model":"no-such-model","messages":[]}"#);

    assert_eq!(response.outcome(), (404, "model_not_found".to_owned()));
    assert_eq!(world.hits(), [0]);
}

fn an_unknown_path_is_not_found(engine: Engine) {
    let world = one_worker(engine);

    for (method, path) in [
        ("GET", "/"),
        ("POST", "/v1/files"),
        ("GET", "/v1/chat/completions"),
        ("DELETE", "/v1/models"),
    ] {
        let response = world.request(method, path, &[], b"");
        assert_eq!(
            response.outcome(),
            (404, "not_found".to_owned()),
            "{method} {path}"
        );
    }
    assert_eq!(world.hits(), [0]);
}

fn a_model_given_twice_is_refused(engine: Engine) {
    let world = one_worker(engine);

    let response = world.chat(r#"{"model":"chat-standard","model":"chat-standard","messages":[]}"#);

    assert_eq!(response.outcome(), (400, "duplicate_field".to_owned()));
    assert_eq!(world.hits(), [0]);
}

fn chat_request(body: &str) -> Vec<u8> {
    request(
        "POST",
        "/v1/chat/completions",
        &["content-type: application/json"],
        body.as_bytes(),
    )
}
