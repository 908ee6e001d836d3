//! What is refused because of what stands in a body, and odd bytes that are not.

use blackbox::{Engine, both_engines};

use crate::support::{CHAT, bodies, chat_request, one_worker, refused};

both_engines![
    a_body_that_two_readers_could_read_differently_is_refused,
    a_key_of_another_place_or_case_is_not_the_model,
    a_body_that_is_no_request_for_a_model_is_refused,
    refusals_on_messages_have_anthropics_shape,
    headers_that_are_not_text_pass_and_harm_nobody,
];

/// C68
fn a_body_that_two_readers_could_read_differently_is_refused(engine: Engine) {
    let world = one_worker(engine);
    for (body, param) in [
        (r#"{"model":"chat","model":"other"}"#, "model"),
        (r#"{"model":"chat","model":"chat"}"#, "model"),
        (r#"{"mod\u0065l":"other","model":"chat"}"#, "model"),
        (r#"{"model":"chat","stream":false,"stream":true}"#, "stream"),
        (
            r#"{"model":"chat","max_tokens":1,"max_tokens":1000}"#,
            "max_tokens",
        ),
        (
            r#"{"model":"chat","max_tokens":1,"max\u005ftokens":1000}"#,
            "max_tokens",
        ),
    ] {
        let response = world.chat(body);
        assert_eq!(
            response.outcome(),
            refused(400, "duplicate_field"),
            "{body}"
        );
        assert_eq!(response.json()["error"]["param"], param, "{body}");
        assert_eq!(
            response.json()["error"]["type"],
            "invalid_request_error",
            "{body}"
        );
    }
    assert_eq!(world.hits(), [0]);
}

/// C68
fn a_key_of_another_place_or_case_is_not_the_model(engine: Engine) {
    let world = one_worker(engine);
    let sent = [
        r#"{"model":"chat","messages":[],"Model":"other"}"#,
        r#"{"meta":{"model":"other"},"model":"chat"}"#,
        r#"{"messages":[{"model":"other"},{"model":"other"}],"model":"chat"}"#,
        r#"{"mod\u0065l":"chat"}"#,
    ];

    for body in sent {
        assert_eq!(world.chat(body).status, 200, "{body}");
    }
    let named_with_nul = world.chat(r#"{"model":"chat\u0000"}"#);

    assert_eq!(named_with_nul.outcome(), refused(404, "model_not_found"));
    assert_eq!(
        bodies(&world, "w1"),
        sent.map(|body| body.replace(r#""chat""#, r#""large""#))
    );
}

fn a_body_that_is_no_request_for_a_model_is_refused(engine: Engine) {
    let world = one_worker(engine);
    for (body, code) in [
        ("", "invalid_json"),
        ("hello", "invalid_json"),
        ("[]", "invalid_json"),
        (r#""model""#, "invalid_json"),
        ("null", "invalid_json"),
        (r#"{"model":"chat""#, "invalid_json"),
        (r#"{"model":"chat"}}"#, "invalid_json"),
        (r#"{"model":"chat"} {"model":"other"}"#, "invalid_json"),
        (r#"{"model":'chat'}"#, "invalid_json"),
        (r#"{"model":"chat",}"#, "invalid_json"),
        ("\u{feff}{\"model\":\"chat\"}", "invalid_json"),
        ("{}", "missing_model"),
        (r#"{"messages":[]}"#, "missing_model"),
        (r#"{"Model":"chat"}"#, "missing_model"),
        (r#"{"model":null}"#, "invalid_field"),
        (r#"{"model":["chat"]}"#, "invalid_field"),
        (r#"{"model":"chat","stream":"yes"}"#, "invalid_field"),
    ] {
        let response = world.chat(body);
        assert_eq!(response.outcome(), refused(400, code), "{body}");
        let request_id = response
            .header("x-request-id")
            .expect("every answer has an id");
        assert_eq!(response.json()["error"]["request_id"], request_id, "{body}");
    }
    assert_eq!(world.hits(), [0]);
}

fn refusals_on_messages_have_anthropics_shape(engine: Engine) {
    let world = one_worker(engine);

    let unknown = world
        .post("/v1/messages", r#"{"model":"no-such-model"}"#)
        .json();
    let broken = world.post("/v1/messages", "{").json();

    for (body, kind, code) in [
        (unknown, "not_found_error", "model_not_found"),
        (broken, "invalid_request_error", "invalid_json"),
    ] {
        assert_eq!(body["type"], "error");
        assert_eq!(
            (&body["error"]["type"], &body["error"]["code"]),
            (&kind.into(), &code.into())
        );
        assert!(body["request_id"].is_string(), "{body}");
    }
}

/// C01
fn headers_that_are_not_text_pass_and_harm_nobody(engine: Engine) {
    let world = one_worker(engine);
    let plain = chat_request(CHAT);
    let mut odd = b"POST /v1/chat/completions HTTP/1.1\r\nx-note: caf\xe9\r\nx-forwarded-for: 1\xc0\xaf, 10.0.0.9\r\n".to_vec();
    odd.extend(
        plain
            .splitn(2, |byte| *byte == b'\n')
            .nth(1)
            .expect("a request of several lines"),
    );

    let response = world.connect().send(odd).response();
    let next = world.connect().send(plain).response();

    assert_eq!(response.status, 200, "{response:?}");
    assert_eq!(
        world.worker("w1").requests()[0].header("x-note"),
        Some(&b"caf\xe9"[..])
    );
    assert_eq!(next.status, 200, "{next:?}");
}
