//! Two knobs of Envoy bound a body; which of them depends on the version of HTTP.

use blackbox::h2::{self, Outcome};
use blackbox::world::request;
use blackbox::{Engine, World, both_engines, envoy_only};
use serde_json::json;

use crate::support::refused;
use blackbox::plugin::probe;
use blackbox::raw::{Choice, Raw};

both_engines![
    the_limit_of_the_route_bounds_a_buffered_body_of_http1,
    the_shipped_limits_leave_the_refusal_to_the_gateway,
];

envoy_only!["host-sim speaks HTTP/1.1 only":
    the_limit_of_the_route_does_nothing_for_http2_below_the_window,
    both_knobs_together_bound_a_body_of_http2,
    the_shipped_limits_leave_the_refusal_to_the_gateway_over_http2,
];

/// Smaller than a window of HTTP/2 can be.
const LIMIT: usize = 100_000;
const WINDOW: usize = 65_536;
/// What a connection reads at once. The limit of the virtual host has no effect below it.
const PIECE: usize = 16_384;

/// A filter that buffers, with a limit of the virtual host, and with a window or without.
fn world(engine: Engine, window: Option<usize>) -> World {
    World::on(engine).worker("w1").start_yaml(move |places| {
        let raw = Raw::new(places)
            .listener("per_connection_buffer_limit_bytes", json!(PIECE))
            .virtual_host("request_body_buffer_limit", json!(LIMIT))
            .filter(&probe("buffer", &["buffer"]))
            .cluster("workers", Choice::RoundRobin, &["w1"], &[]);
        match window {
            Some(window) => raw.hcm(
                "http2_protocol_options",
                json!({"initial_stream_window_size": window}),
            ),
            None => raw,
        }
        .yaml()
    })
}

fn body(length: usize) -> Vec<u8> {
    let mut body = br#"{"model":"m","pad":""#.to_vec();
    body.resize(length - 2, b'x');
    body.extend(br#""}"#);
    body
}

const PATH: &str = "/v1/chat/completions";

fn over_http1(world: &World, length: usize) -> u16 {
    world.request("POST", PATH, &[], &body(length)).status
}

/// The status, or nothing if the stream was reset under the client that still sends.
fn over_http2(world: &World, length: usize) -> Option<u16> {
    match h2::post(world.address(), PATH, &[], &body(length)) {
        Outcome::Response { status, .. } => Some(status),
        Outcome::Reset(_) => None,
    }
}

fn the_limit_of_the_route_bounds_a_buffered_body_of_http1(engine: Engine) {
    let world = world(engine, None);

    assert_eq!(over_http1(&world, LIMIT), 200);
    assert_eq!(over_http1(&world, LIMIT + 1), 413);

    assert_eq!(world.hits(), [1]);
}

fn the_limit_of_the_route_does_nothing_for_http2_below_the_window(engine: Engine) {
    let world = world(engine, None);

    for length in [LIMIT, LIMIT + 1, 4 * 1024 * 1024] {
        assert_eq!(over_http2(&world, length), Some(200), "{length}");
    }
}

fn both_knobs_together_bound_a_body_of_http2(engine: Engine) {
    let world = world(engine, Some(WINDOW));

    assert_eq!(over_http2(&world, LIMIT), Some(200));
    for length in [LIMIT + 1, 2 * LIMIT, 4 * 1024 * 1024] {
        assert!(
            matches!(over_http2(&world, length), Some(413) | None),
            "{length}"
        );
    }

    assert_eq!(world.hits(), [1]);
}

const SHIPPED_LIMIT: usize = 1_000_000;

fn shipped(engine: Engine) -> World {
    World::on(engine)
        .worker("w1")
        .endpoint("m", &[("w1", "large")])
        .with("max_body_bytes", json!(SHIPPED_LIMIT))
        .start()
}

fn chunked(length: usize, size: usize) -> Vec<u8> {
    let mut bytes = request("POST", PATH, &["transfer-encoding: chunked"], b"");
    let head = String::from_utf8_lossy(&bytes).replace("content-length: 0\r\n", "");
    bytes = head.into_bytes();
    for chunk in body(length).chunks(size) {
        bytes.extend(format!("{:x}\r\n", chunk.len()).bytes());
        bytes.extend(chunk);
        bytes.extend(b"\r\n");
    }
    bytes.extend(b"0\r\n\r\n");
    bytes
}

fn the_shipped_limits_leave_the_refusal_to_the_gateway(engine: Engine) {
    let world = shipped(engine);
    let ours = format!("the body is larger than {SHIPPED_LIMIT} bytes");

    let length = world.request("POST", PATH, &[], &body(SHIPPED_LIMIT));
    let chunks = world
        .connect()
        .send(chunked(SHIPPED_LIMIT, 10_000))
        .response();
    assert_eq!([length.status, chunks.status], [200, 200]);

    for over in [1, SHIPPED_LIMIT] {
        let length = world.request("POST", PATH, &[], &body(SHIPPED_LIMIT + over));
        let chunks = world
            .connect()
            .send(chunked(SHIPPED_LIMIT + over, 100_000))
            .response();
        for refusal in [length, chunks] {
            assert_eq!(
                refusal.outcome(),
                refused(413, "request_too_large"),
                "{over}"
            );
            assert_eq!(refusal.json()["error"]["message"], ours, "{over}");
            assert_eq!(refusal.json()["error"]["type"], "invalid_request_error");
        }
    }
    assert_eq!(world.hits(), [2]);
}

fn the_shipped_limits_leave_the_refusal_to_the_gateway_over_http2(engine: Engine) {
    let world = shipped(engine);
    let ours = format!("the body is larger than {SHIPPED_LIMIT} bytes");

    assert_eq!(over_http2(&world, SHIPPED_LIMIT), Some(200));
    let outcome = h2::post(world.address(), PATH, &[], &body(SHIPPED_LIMIT + 1));

    let Outcome::Response { status: 413, body } = outcome else {
        panic!("{outcome:?}")
    };
    let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!(body["error"]["code"], "request_too_large");
    assert_eq!(body["error"]["message"], ours);
    assert_eq!(world.hits(), [1]);
}
