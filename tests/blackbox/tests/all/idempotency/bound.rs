//! Whatever clients send, shared data stays within the bound that is printed at start.

use std::thread;

use blackbox::{Connection, Engine, World, envoy_only};
use serde_json::json;

use super::{builder, keyed};
use crate::support::CHAT;

envoy_only!["the memory of a simulator says nothing of Envoy's; its slots are the same code":
    shared_data_stays_within_its_printed_bound];

/// Clients at a time, and how many keys each of them uses up.
const CLIENTS: usize = 4;
const KEYS: usize = 50_000;
/// What the process may need beside shared data: module memory, connections, the allocator's slack.
const ELSEWHERE_BYTES: u64 = 64 * 1024 * 1024;

fn shared_data_stays_within_its_printed_bound(engine: Engine) {
    let world = builder(engine, json!({}))
        .concurrency(2)
        .argument("--component-log-level")
        .argument("wasm:info")
        .start();
    let mut connection = world.connect();
    assert_eq!(connection.send(keyed("warm", CHAT)).response().status, 200);
    let before = resident_bytes(&world);

    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let connection = world.connect();
            scope.spawn(move || use_up(connection, client));
        }
    });

    let grown = resident_bytes(&world).saturating_sub(before);
    let bound = printed_bound(&world.output());
    assert!(
        grown <= bound + ELSEWHERE_BYTES,
        "{grown} bytes more, {bound} are the bound"
    );
}

/// Sends a request with each key. Each is carried out or, once the store is full, refused; none is
/// answered with what was kept for another.
fn use_up(mut connection: Connection, client: usize) {
    for key in 0..KEYS {
        let response = connection
            .send(keyed(&format!("{client}-{key}"), CHAT))
            .response();
        assert!([200, 503].contains(&response.status), "{response:?}");
        assert_eq!(response.header("idempotency-replayed"), None);
    }
}

/// Memory that the process holds.
fn resident_bytes(world: &World) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", world.pid())).expect("Linux");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .expect("a line");
    let kib: u64 = line
        .trim()
        .trim_end_matches("kB")
        .trim()
        .parse()
        .expect("a number");
    kib * 1024
}

/// The number in `idempotency: at most N bytes of shared data`.
fn printed_bound(output: &str) -> u64 {
    let (_, after) = output
        .split_once("idempotency: at most ")
        .expect("the bound is printed");
    let (number, _) = after.split_once(" bytes of shared data").expect("in bytes");
    number.parse().expect("a number")
}
