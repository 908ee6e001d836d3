//! How many bodies a caller may be sending at a time.

use std::time::{Duration, Instant};

use blackbox::h2::{self, Outcome};
use blackbox::world::request;
use blackbox::{Connection, Engine, Response, World, both_engines, envoy_only};
use serde_json::json;

use super::{KEY_A, KEY_B, bearer, chat_with, get_as, with_auth};
use crate::support::{CHAT, refused};

both_engines![
    a_caller_with_too_many_bodies_under_way_is_refused_and_others_are_not,
    a_body_that_is_complete_makes_room,
    clients_that_leave_in_the_middle_of_a_body_make_room,
    a_refusal_further_on_makes_room,
];

envoy_only!["host-sim speaks HTTP/1.1 only": over_http2_a_request_without_a_body_is_not_counted];

const MOST: usize = 3;
/// Longest time until the gateway has noticed that a client left.
const PATIENCE: Duration = Duration::from_secs(10);

fn world(engine: Engine) -> World {
    with_auth(engine, json!({"max_uploads": MOST})).start()
}

/// A client that has sent half of its body, and whose head the gateway has read.
fn half_sent(world: &World, key: &str) -> Connection {
    let lines = [&*bearer(key), "expect: 100-continue"];
    let bytes = request("POST", "/v1/chat/completions", &lines, CHAT.as_bytes());
    let (head, body) = bytes.split_at(bytes.len() - CHAT.len());
    let mut client = world.connect();
    assert!(client.send(head).is_told_to_go_on());
    client.send(&body[..CHAT.len() / 2]);
    client
}

fn finish(mut client: Connection) -> Response {
    client.send(&CHAT[CHAT.len() / 2..]).response()
}

fn ask(world: &World, key: &str) -> Response {
    chat_with(world, &[&bearer(key)])
}

fn a_caller_with_too_many_bodies_under_way_is_refused_and_others_are_not(engine: Engine) {
    let world = world(engine);
    let open: Vec<Connection> = (0..MOST).map(|_| half_sent(&world, KEY_A)).collect();

    for _ in 0..2 {
        let refusal = ask(&world, KEY_A);
        assert_eq!(refusal.outcome(), refused(429, "too_many_uploads"));
        assert_eq!(refusal.header("retry-after").as_deref(), Some("1"));
    }
    assert_eq!(
        get_as(&world, KEY_A, "/v1/models").status,
        200,
        "it sends no body"
    );
    assert_eq!(ask(&world, KEY_B).status, 200);

    for client in open {
        assert_eq!(finish(client).content(), "hello from w1");
    }
    assert_eq!(ask(&world, KEY_A).status, 200);
}

fn a_body_that_is_complete_makes_room(engine: Engine) {
    let world = world(engine);
    let mut open: Vec<Connection> = (0..MOST).map(|_| half_sent(&world, KEY_A)).collect();

    for _ in 0..2 * MOST {
        assert_eq!(ask(&world, KEY_A).status, 429);
        let client = open.remove(0);
        assert_eq!(finish(client).status, 200);
        open.push(half_sent(&world, KEY_A));
    }
}

fn clients_that_leave_in_the_middle_of_a_body_make_room(engine: Engine) {
    let world = world(engine);
    for _ in 0..3 {
        let open: Vec<Connection> = (0..MOST).map(|_| half_sent(&world, KEY_A)).collect();
        assert_eq!(ask(&world, KEY_A).status, 429);

        for client in open {
            client.abort();
        }
        let until = Instant::now() + PATIENCE;
        while ask(&world, KEY_A).status == 429 {
            assert!(
                Instant::now() < until,
                "clients that left are still counted"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    // All of them, not one of three.
    let open: Vec<Connection> = (0..MOST).map(|_| half_sent(&world, KEY_A)).collect();
    assert_eq!(ask(&world, KEY_A).status, 429);
    drop(open);
}

fn a_refusal_further_on_makes_room(engine: Engine) {
    let world = world(engine);
    let head = |path: &str, more: &str| {
        let key = bearer(KEY_A);
        format!(
            "POST {path} HTTP/1.1\r\nhost: g\r\n{key}\r\ncontent-length: 50000000\r\n{more}\r\n{{"
        )
    };
    for _ in 0..2 * MOST {
        let response = world
            .connect()
            .send(head("/v1/chat/completions", ""))
            .response();
        assert_eq!(response.outcome(), refused(413, "request_too_large"));
        let response = world.connect().send(head("/nowhere", "")).response();
        assert_eq!(response.outcome(), refused(404, "not_found"));
    }
    assert_eq!(ask(&world, KEY_A).status, 200);
}

/// No header tells the two apart there.
fn over_http2_a_request_without_a_body_is_not_counted(engine: Engine) {
    let world = world(engine);
    let open: Vec<Connection> = (0..MOST).map(|_| half_sent(&world, KEY_A)).collect();
    let post = |body: &str| {
        let lines = [("x-api-key", KEY_A)];
        match h2::post(
            world.address(),
            "/v1/chat/completions",
            &lines,
            body.as_bytes(),
        ) {
            Outcome::Response { status, .. } => status,
            Outcome::Reset(reason) => panic!("{reason}"),
        }
    };

    assert_eq!((post(""), post(CHAT)), (400, 429));

    drop(open);
}
