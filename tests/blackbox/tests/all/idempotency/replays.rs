//! What a client gets that asks again.

use blackbox::{Engine, Faults, World, both_engines, envoy_only, h2};
use serde_json::json;

use super::{PATH, chat, gateway, is_replayed, send, word};
use crate::support::{CHAT, STREAMED_CHAT, refused};

both_engines![
    a_chat_is_carried_out_once_and_answered_twice,
    a_stream_is_replayed_byte_for_byte,
    a_long_answer_is_replayed_byte_for_byte,
    an_answer_over_the_cap_is_not_kept_and_says_so,
    a_refusal_of_the_worker_passes_at_once_and_is_kept,
    a_head_is_replayed_without_what_belongs_to_its_exchange,
    without_a_key_every_request_is_carried_out,
    a_request_id_is_no_key,
    without_its_section_a_key_means_nothing,
];

envoy_only!["host-sim serves HTTP/1.1": a_key_over_http2_is_the_same_key];

fn a_chat_is_carried_out_once_and_answered_twice(engine: Engine) {
    let world = gateway(engine);

    let first = chat(&world, "k");
    let again = chat(&world, "k");

    assert_eq!(first.content(), "hello from w1");
    assert!(!is_replayed(&first), "{first:?}");
    assert_eq!(again.status, 200);
    assert_eq!(again.body, first.body);
    assert!(is_replayed(&again), "{again:?}");
    assert_eq!(world.hits(), [1]);
    for name in ["content-type", "x-aisuite-backend"] {
        assert_eq!(again.header(name), first.header(name), "{name}");
    }
    assert_ne!(again.header("x-request-id"), first.header("x-request-id"));
    assert_eq!(word(&world, &first), "claimed");
    assert_eq!(word(&world, &again), "replayed");
}

fn a_stream_is_replayed_byte_for_byte(engine: Engine) {
    let world = gateway(engine);

    let first = send(&world, "k", STREAMED_CHAT);
    let again = send(&world, "k", STREAMED_CHAT);

    assert!(first.text().ends_with("data: [DONE]\n\n"), "{first:?}");
    assert_eq!(again.body, first.body);
    assert_eq!(again.header("content-type"), first.header("content-type"));
    assert!(is_replayed(&again), "{again:?}");
    assert_eq!(world.hits(), [1]);
}

fn a_long_answer_is_replayed_byte_for_byte(engine: Engine) {
    let world = gateway(engine);
    for length in [4096, 65_536, 65_537, 300_000, 1_048_576] {
        let body: String = (0..length)
            .map(|n| char::from(b'a' + (n % 23) as u8))
            .collect();
        world.fail(
            "w1",
            Faults {
                body: Some(body.clone()),
                ..Faults::default()
            },
        );
        let key = format!("k{length}");

        let first = chat(&world, &key);
        let again = chat(&world, &key);

        assert!(first.text() == body, "{length} bytes");
        assert!(again.text() == body, "{length} bytes: {}", again.status);
        assert!(is_replayed(&again));
    }
    assert_eq!(world.hits(), [5]);
}

fn an_answer_over_the_cap_is_not_kept_and_says_so(engine: Engine) {
    // Every event of a stream names the model.
    let model = "large".repeat(20);
    let world = World::on(engine)
        .with("idempotency", json!({"max_response_bytes": 1024}))
        .worker("w1")
        .endpoint("chat", &[("w1", &model)])
        .start();
    for length in [1024, 1025] {
        let body = Some("x".repeat(length));
        let faults = Faults::default();
        world.fail("w1", Faults { body, ..faults });
        let first = chat(&world, &length.to_string());
        assert_eq!((first.status, first.body.len()), (200, length));
    }
    world.worker("w1").clear_faults();
    // Without a length announced.
    let streamed = send(&world, "stream", STREAMED_CHAT);
    assert!(streamed.body.len() > 1024, "{streamed:?}");

    let too_large = refused(409, "response_too_large_to_replay");
    assert_eq!(chat(&world, "1024").body.len(), 1024);
    assert_eq!(chat(&world, "1025").outcome(), too_large);
    let again = send(&world, "stream", STREAMED_CHAT);
    assert_eq!(again.outcome(), too_large);
    assert_eq!(word(&world, &streamed), "too_large");
    assert_eq!(world.hits(), [3]);
}

/// C06
fn a_refusal_of_the_worker_passes_at_once_and_is_kept(engine: Engine) {
    let world = gateway(engine);
    let error = r#"{"error":{"message":"bad param","type":"invalid_request_error"}}"#;
    let table = [
        (400, error, "application/json"),
        (400, "", "application/json"),
        (422, "<html>no</html>", "text/html"),
        (422, error, "application/json"),
        (200, "[]", "application/json"),
    ];
    for (index, (status, body, content_type)) in table.into_iter().enumerate() {
        let headers = [("x-kind".to_owned(), content_type.to_owned())].into();
        world.fail(
            "w1",
            Faults {
                headers,
                body: Some(body.to_owned()),
                ..Faults::status(status)
            },
        );
        let key = format!("k{index}");
        for answer in [chat(&world, &key), chat(&world, &key)] {
            assert_eq!((answer.status, answer.text().as_str()), (status, body));
            assert_eq!(answer.header("x-kind").as_deref(), Some(content_type));
        }
        assert_eq!(world.hits(), [index + 1]);
    }
}

fn a_head_is_replayed_without_what_belongs_to_its_exchange(engine: Engine) {
    let world = gateway(engine);
    let lines = [
        ("openai-version", "2020-10-01"),
        ("set-cookie", "session=1"),
        ("keep-alive", "timeout=5"),
        ("x-ratelimit-remaining-requests", "7"),
        ("idempotency-replayed", "true"),
    ];
    let headers = lines.map(|(name, value)| (name.to_owned(), value.to_owned()));
    world.fail(
        "w1",
        Faults {
            headers: headers.into(),
            ..Faults::default()
        },
    );

    let first = chat(&world, "k");
    let again = chat(&world, "k");

    assert!(!is_replayed(&first), "no worker says so: {first:?}");
    assert!(is_replayed(&again));
    assert_eq!(
        again.header("openai-version").as_deref(),
        Some("2020-10-01")
    );
    for name in ["set-cookie", "keep-alive", "x-ratelimit-remaining-requests"] {
        assert_eq!(again.header(name), None, "{name}");
    }
    let count = |name: &str| again.headers.iter().filter(|(key, _)| key == name).count();
    for name in [
        "content-type",
        "date",
        "server",
        "x-request-id",
        "content-length",
    ] {
        assert_eq!(count(name), 1, "{name}: {again:?}");
    }
}

fn a_key_over_http2_is_the_same_key(engine: Engine) {
    let world = gateway(engine);
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", "k"),
    ];

    let first = chat(&world, "k");
    let again = h2::post(world.address(), PATH, &headers, CHAT.as_bytes());

    let h2::Outcome::Response { status, body } = again else {
        panic!("{again:?}")
    };
    assert_eq!((status, body), (200, first.body));
    assert_eq!(world.hits(), [1]);
}

fn without_a_key_every_request_is_carried_out(engine: Engine) {
    let world = gateway(engine);
    for _ in 0..2 {
        let response = world.chat(CHAT);
        assert!(!is_replayed(&response));
        assert!(word(&world, &response).is_null());
    }
    assert_eq!(world.hits(), [2]);
}

fn a_request_id_is_no_key(engine: Engine) {
    let world = gateway(engine);
    let ask = |lines: &[&str]| world.request("POST", PATH, lines, CHAT.as_bytes());
    for _ in 0..2 {
        assert!(!is_replayed(&ask(&["x-request-id: same"])));
    }
    let keyed = ["x-request-id: same", "idempotency-key: k"];
    assert!(!is_replayed(&ask(&keyed)));
    assert!(is_replayed(&ask(&keyed)));
    assert_eq!(world.hits(), [3]);
}

fn without_its_section_a_key_means_nothing(engine: Engine) {
    let world = crate::support::one_worker(engine);
    for key in ["k", "k", "two words"] {
        assert_eq!(chat(&world, key).content(), "hello from w1");
    }
    assert_eq!(world.hits(), [3]);
}
