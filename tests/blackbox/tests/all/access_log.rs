//! One line per request, one per attempt, and Envoy's own errors in our words.

use blackbox::{At, Engine, Faults, How, World, both_engines};
use serde_json::json;

use crate::support::{CHAT, one_worker, refused, two_workers};

both_engines![
    a_request_leaves_one_line_and_one_per_attempt,
    each_attempt_is_named_by_how_it_ended,
    a_refusal_leaves_its_code,
    what_the_server_refuses_by_itself_has_the_shape_of_our_errors,
];

fn a_request_leaves_one_line_and_one_per_attempt(engine: Engine) {
    let world = two_workers(engine);
    world.worker("w1").set_faults(Faults::status(503));

    let response = world.chat(CHAT);
    let request_id = response
        .header("x-request-id")
        .expect("every answer has an id");
    let line = world.log().request(&request_id);

    for (field, value) in [
        ("method", "POST"),
        ("path", "/v1/chat/completions"),
        ("endpoint", "chat"),
        ("version", "v1"),
        ("worker", "w2"),
        ("tried", "w1=503,w2=200"),
    ] {
        assert_eq!(line[field], value, "{field} of {line}");
    }
    assert_eq!(
        (&line["code"], &line["attempts"]),
        (&200.into(), &2.into()),
        "{line}"
    );
    let attempts = world.log().attempts(&request_id);
    let codes: Vec<_> = attempts
        .iter()
        .map(|attempt| attempt["code"].clone())
        .collect();
    assert_eq!(codes, [503, 200]);
    let hosts: Vec<_> = attempts
        .iter()
        .map(|attempt| attempt["host"].clone())
        .collect();
    assert_eq!(
        hosts,
        ["w1", "w2"].map(|worker| world.worker(worker).address().to_string())
    );
}

/// The first worker's end is named by what happened to it, not by what is left over of another's.
fn each_attempt_is_named_by_how_it_ended(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .worker("w2")
        .worker("w3")
        .endpoint_with(
            "chat",
            &[("w1", "a"), ("w2", "b"), ("w3", "c")],
            json!({"timeout_ms": 600}),
        )
        .start();
    let before_headers = |how| Faults::interrupt(At::BeforeHeaders, how);
    world.worker("w3").refuse();
    for (first, second, tried) in [
        (
            Faults::status(503),
            before_headers(How::Reset),
            "w1=503,w2=reset,w3=refused",
        ),
        (
            Faults::status(429),
            before_headers(How::Stall),
            "w1=429,w2=timeout,w3=refused",
        ),
        (
            before_headers(How::Close),
            Faults::status(502),
            "w1=reset,w2=502,w3=refused",
        ),
        (
            before_headers(How::Stall),
            Faults::status(404),
            "w1=timeout,w2=404",
        ),
    ] {
        world.fail("w1", first);
        world.fail("w2", second);
        let response = world.chat(CHAT);
        let line = world.log().request(
            &response
                .header("x-request-id")
                .expect("every answer has an id"),
        );
        assert_eq!(line["tried"], tried, "{line}");
    }
}

fn a_refusal_leaves_its_code(engine: Engine) {
    let world = one_worker(engine);

    let response = world.chat(r#"{"model":"none"}"#);
    let line = world.log().request(
        &response
            .header("x-request-id")
            .expect("every answer has an id"),
    );

    assert_eq!(
        (&line["code"], &line["error"]),
        (&404.into(), &"model_not_found".into()),
        "{line}"
    );
    assert_eq!(
        world
            .log()
            .attempts(line["request_id"].as_str().expect("an id")),
        [] as [serde_json::Value; 0]
    );
}

fn what_the_server_refuses_by_itself_has_the_shape_of_our_errors(engine: Engine) {
    let world = one_worker(engine);
    let long = "x".repeat(100_000);
    for (bytes, outcome) in [
        ("BROKEN\r\n\r\n".to_owned(), refused(400, "bad_request")),
        (
            "GET /v1/models HTTP/1.1\r\n\r\n".to_owned(),
            refused(400, "bad_request"),
        ),
        (
            "GET /v1/models HTTP/1.1\r\nhost: g\r\nunder_score: 1\r\n\r\n".to_owned(),
            refused(400, "bad_request"),
        ),
        (
            "GET /v1/models HTTP/1.0\r\nhost: g\r\n\r\n".to_owned(),
            refused(426, "upgrade_required"),
        ),
        (
            format!("GET /v1/models HTTP/1.1\r\nhost: g\r\nx-long: {long}\r\n\r\n"),
            refused(431, "headers_too_large"),
        ),
    ] {
        let response = world.connect().send(&bytes).response();
        assert_eq!(response.outcome(), outcome, "{:.60}: {response:?}", bytes);
    }
    assert_eq!(world.hits(), [0]);
}
