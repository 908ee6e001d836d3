//! C97: a stream passes as it comes, with every filter in the chain; nothing waits for more.

use blackbox::client::Piece;
use blackbox::{At, Engine, Faults, How, World, both_engines};
use serde_json::json;

use crate::support::{STREAMED_CHAT, chat_request};

both_engines![
    each_event_arrives_before_the_next_is_sent,
    a_stream_beyond_32_kib_is_not_held_back,
];

fn all_filters(engine: Engine) -> World {
    World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .with("idempotency", json!({}))
        .with("circuit", json!({}))
        .with("health", json!({}))
        .start()
}

fn keyed_chat(key: &str) -> Vec<u8> {
    let lines = [
        "content-type: application/json",
        &format!("idempotency-key: {key}"),
    ];
    blackbox::world::request(
        "POST",
        "/v1/chat/completions",
        &lines,
        STREAMED_CHAT.as_bytes(),
    )
}

fn each_event_arrives_before_the_next_is_sent(engine: Engine) {
    let world = all_filters(engine);
    // A stream of the mock worker has six events.
    for events in 1..6 {
        world.fail("w1", Faults::interrupt(At::Events(events), How::Hold));
        let mut client = world.connect();
        client.send(keyed_chat(&format!("k-{events}")));
        let mut rest = client.head().rest();
        let mut seen = Vec::new();
        while seen.windows(2).filter(|pair| pair == b"\n\n").count() < events {
            match client.piece(&mut rest) {
                Piece::Data(data) => seen.extend(data),
                Piece::End(end) => panic!("{end:?} after {}", String::from_utf8_lossy(&seen)),
            }
        }
        world.worker("w1").release();
        let (tail, _) = client.to_end(&mut rest);
        assert!(tail.ends_with(b"data: [DONE]\n\n"));
    }
}

fn a_stream_beyond_32_kib_is_not_held_back(engine: Engine) {
    const SENT: usize = 40_000;
    let world = all_filters(engine);
    let body = format!("data: {}\n\n", "x".repeat(2 * SENT));
    world.fail(
        "w1",
        Faults {
            body: Some(body.clone()),
            ..Faults::interrupt(At::Bytes(SENT), How::Hold)
        },
    );
    let mut client = world.connect();
    client.send(chat_request(STREAMED_CHAT));
    let head = client.head();
    let mut rest = head.rest();
    let mut seen = Vec::new();
    while seen.len() < SENT {
        match client.piece(&mut rest) {
            Piece::Data(data) => seen.extend(data),
            Piece::End(end) => panic!("{end:?} after {} bytes", seen.len()),
        }
    }
    assert_eq!(
        seen.len(),
        SENT,
        "what the worker has not sent cannot be here"
    );
    world.worker("w1").release();
    seen.extend(client.to_end(&mut rest).0);
    assert_eq!(head.status, 200);
    assert!(seen == body.as_bytes(), "{}", seen.len());
}
