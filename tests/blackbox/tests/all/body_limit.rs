//! The limit on bodies is the gateway's own, counted in bytes, over both versions of HTTP.

use blackbox::h2::{self, Outcome};
use blackbox::{Engine, World, both_engines, envoy_only};
use serde_json::json;

use crate::support::{CHAT, chat_request, refused};

both_engines![
    a_body_at_the_limit_passes_and_one_byte_more_is_refused,
    a_body_that_comes_in_pieces_is_counted_once,
    a_length_over_the_limit_is_refused_before_the_body_comes,
    a_client_that_asks_first_is_told_to_go_on_or_refused,
    the_default_limit_is_four_mebibytes,
    long_prompts_are_no_matter_of_envoys_buffers,
];

envoy_only!["host-sim speaks HTTP/1.1 only": http2_has_the_same_limit, http2_requests_are_served, http2_requests_without_a_body_are_answered];

const LIMIT: usize = 2048;

fn limited(engine: Engine) -> World {
    World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .with("max_body_bytes", json!(LIMIT))
        .start()
}

fn body(length: usize) -> String {
    let (head, tail) = (r#"{"model":"chat","pad":""#, r#""}"#);
    format!(
        "{head}{}{tail}",
        "x".repeat(length - head.len() - tail.len())
    )
}

fn chunked(body: &str, size: usize) -> Vec<u8> {
    let mut bytes =
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ntransfer-encoding: chunked\r\n\r\n"
            .to_vec();
    for chunk in body.as_bytes().chunks(size) {
        bytes.extend(format!("{:x}\r\n", chunk.len()).bytes());
        bytes.extend(chunk);
        bytes.extend(b"\r\n");
    }
    bytes.extend(b"0\r\n\r\n");
    bytes
}

fn a_body_at_the_limit_passes_and_one_byte_more_is_refused(engine: Engine) {
    let world = limited(engine);

    assert_eq!(world.chat(&body(LIMIT)).status, 200);
    assert_eq!(
        world
            .connect()
            .send(chunked(&body(LIMIT), 100))
            .response()
            .status,
        200
    );
    assert_eq!(
        world.chat(&body(LIMIT + 1)).outcome(),
        refused(413, "request_too_large")
    );
    let refusal = world
        .connect()
        .send(chunked(&body(LIMIT + 1), 100))
        .response();
    assert_eq!(refusal.outcome(), refused(413, "request_too_large"));

    assert_eq!(world.hits(), [2]);
}

/// C02
fn a_body_that_comes_in_pieces_is_counted_once(engine: Engine) {
    let world = limited(engine);
    let bytes = chat_request(&body(LIMIT));
    let pieces: Vec<_> = (1..20)
        .map(|piece| bytes.len() - piece * 100)
        .rev()
        .collect();

    let response = world.connect().send_cut_at(&bytes, &pieces).response();

    assert_eq!(response.status, 200, "{response:?}");
}

fn a_client_that_asks_first_is_told_to_go_on_or_refused(engine: Engine) {
    let world = limited(engine);
    let ask = |length: usize| {
        format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nexpect: 100-continue\r\ncontent-length: {length}\r\n\r\n"
        )
    };

    let mut client = world.connect();
    client.send(ask(LIMIT));
    assert!(client.is_told_to_go_on());
    assert_eq!(client.send(body(LIMIT)).response().status, 200);
    let refusal = world.connect().send(ask(LIMIT + 1)).response();

    assert_eq!(refusal.outcome(), refused(413, "request_too_large"));
    assert_eq!(world.hits(), [1]);
    assert_eq!(world.worker("w1").requests()[0].header("expect"), None);
}

fn a_length_over_the_limit_is_refused_before_the_body_comes(engine: Engine) {
    let world = limited(engine);

    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ncontent-length: {}\r\n\r\n",
        LIMIT + 1
    );
    let response = world.connect().send(head).response();

    assert_eq!(response.outcome(), refused(413, "request_too_large"));
    assert_eq!(world.hits(), [0]);
}

/// C21
fn long_prompts_are_no_matter_of_envoys_buffers(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .start();
    let limit = 4 * 1024 * 1024;
    let lengths = [32_768, 32_769, 1_000_000, limit - 1, limit];

    for length in lengths {
        assert_eq!(world.chat(&body(length)).status, 200, "{length}");
    }
    let refusal = world.chat(&body(limit + 1));

    assert_eq!(refusal.outcome(), refused(413, "request_too_large"));
    let text = String::from_utf8_lossy(&refusal.body).into_owned();
    assert!(text.contains("4194304"), "it names the limit: {text}");
    // The served name is one byte longer than the public one.
    let requests = world.worker("w1").requests();
    let arrived: Vec<usize> = requests.iter().map(|request| request.body.len()).collect();
    assert_eq!(arrived, lengths.map(|length| length + 1));
}

fn the_default_limit_is_four_mebibytes(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .start();
    let four_mib = 4 * 1024 * 1024;

    assert_eq!(world.chat(&body(four_mib)).status, 200);
    assert_eq!(
        world
            .connect()
            .send(chunked(&body(four_mib), 65536))
            .response()
            .status,
        200
    );
    assert_eq!(
        world.chat(&body(four_mib + 1)).outcome(),
        refused(413, "request_too_large")
    );
    let refusal = world
        .connect()
        .send(chunked(&body(four_mib + 1), 65536))
        .response();
    assert_eq!(refusal.outcome(), refused(413, "request_too_large"));
}

fn http2_requests_are_served(engine: Engine) {
    let world = limited(engine);

    let Outcome::Response { status, body } = h2::post(
        world.address(),
        "/v1/chat/completions",
        &[],
        CHAT.as_bytes(),
    ) else {
        panic!("no answer")
    };

    assert_eq!(status, 200);
    assert!(String::from_utf8_lossy(&body).contains("hello from w1"));
}

/// C18
fn http2_requests_without_a_body_are_answered(engine: Engine) {
    let world = limited(engine);

    let Outcome::Response { status, body } =
        h2::post(world.address(), "/v1/chat/completions", &[], b"")
    else {
        panic!("no answer")
    };

    assert_eq!(status, 400);
    assert!(String::from_utf8_lossy(&body).contains("invalid_json"));
}

/// The client that is still sending may see the stream reset instead of the answer.
fn http2_has_the_same_limit(engine: Engine) {
    let world = limited(engine);
    let post = |length| {
        h2::post(
            world.address(),
            "/v1/chat/completions",
            &[],
            body(length).as_bytes(),
        )
    };

    assert!(matches!(post(LIMIT), Outcome::Response { status: 200, .. }));
    for length in [LIMIT + 1, 100 * LIMIT, 6 * 1024 * 1024] {
        match post(length) {
            Outcome::Response { status, body } => {
                assert_eq!(status, 413, "{length}");
                let text = String::from_utf8_lossy(&body).into_owned();
                assert!(text.contains("request_too_large"), "{length}: {text}");
            }
            Outcome::Reset(_) if length > 65536 => {}
            Outcome::Reset(reason) => panic!("{length}: {reason}"),
        }
    }

    assert_eq!(world.hits(), [1]);
}
