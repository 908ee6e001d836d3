//! One line per request, one per attempt, and Envoy's own errors in our words.

use blackbox::{Engine, Faults, both_engines};

use crate::support::{CHAT, one_worker, refused, two_workers};

both_engines![
    a_request_leaves_one_line_and_one_per_attempt,
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
