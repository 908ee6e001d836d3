//! How an attempt ended: the trail, the worker's circuit, what is in flight.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod support;

use std::rc::Rc;
use std::time::Duration;

use dragoman_circuit::{Admission, Circuit, admits};
use dragoman_contract::Plan;
use dragoman_contract::load::{Seat, worker_hash};
use dragoman_sdk::fake::{Exchange, FakeHost, SharedMap};

use support::{BODY, at, attempt, host, plan};

#[test]
fn the_trail_tells_how_each_attempt_ended() {
    let trail = |it: &Exchange<_>| {
        String::from_utf8(it.host.properties["dragoman.attempts"].clone()).unwrap()
    };
    let mut first = at("a", "127.0.0.1:9101");
    first.request(BODY);
    first.host.now = Duration::from_millis(1000);
    first.done();
    assert_eq!(trail(&first), "w1=timeout");

    let mut second = at("b", "127.0.0.1:9102");
    second
        .host
        .properties
        .insert("dragoman.attempts".into(), "w1=timeout".into());
    second.request(BODY);
    second.response(&[(":status", "200")], false);
    assert_eq!(trail(&second), "w1=timeout,w2=200");
    second.response_data(b"0123456789", false);
    second.done();
    assert_eq!(trail(&second), "w1=timeout,w2=200:cut");
}

/// Envoy's details differ by how the client left, or are left over; that the request is over does not.
#[test]
fn a_client_that_left_is_told_from_a_worker_that_failed() {
    for details in [
        "downstream_remote_disconnect",
        "http2.remote_reset",
        "codec_error:x",
        "via_upstream",
        "",
    ] {
        for head in [None, Some("200")] {
            let end = |over: bool| {
                let mut it = at("a", "127.0.0.1:9101");
                it.request(BODY);
                if let Some(status) = head {
                    it.response(&[(":status", status)], false);
                }
                let properties = &mut it.host.properties;
                properties.insert("response.code_details".into(), details.into());
                if over {
                    properties.insert("request.duration".into(), 7_u64.to_le_bytes().into());
                }
                it.done();
                String::from_utf8(it.host.properties["dragoman.attempts"].clone()).unwrap()
            };
            assert_eq!(end(true), "w1=client_gone", "{details} {head:?}");
            assert_ne!(end(false), "w1=client_gone", "{details} {head:?}");
        }
    }
}

#[test]
fn an_answer_that_envoy_drops_for_the_next_candidate_is_not_a_broken_one() {
    let trail = |cluster, address| {
        let mut it = at(cluster, address);
        it.request(BODY);
        it.response(&[(":status", "503")], false);
        it.done();
        String::from_utf8(it.host.properties["dragoman.attempts"].clone()).unwrap()
    };
    assert_eq!(trail("a", "127.0.0.1:9101"), "w1=503");
    assert_eq!(trail("b", "127.0.0.1:9103"), "w3=503:cut");
}

/// Runs attempts at w1 on one process, each ending with this response status or none at all.
fn circuit_after(ends: &[Option<&str>]) -> Circuit {
    let shared = SharedMap::default();
    for end in ends {
        let mut it = Exchange::new(
            &attempt(),
            FakeHost {
                shared: Rc::clone(&shared),
                ..host("a", "127.0.0.1:9101")
            },
        );
        it.request(BODY);
        if let Some(status) = end {
            it.response(&[(":status", status)], true);
        }
        it.done();
    }
    let shared = shared.borrow();
    Circuit::decode(
        shared
            .get("dragoman/1/circuit/w1")
            .map_or(b"", |(bytes, _)| bytes),
    )
}

fn is_open(circuit: &Circuit) -> bool {
    admits(circuit, 0, 1) != Admission::Closed
}

#[test]
fn failures_in_a_row_open_the_workers_circuit() {
    assert!(is_open(&circuit_after(&[Some("503"), None])));
    assert!(!is_open(&circuit_after(&[Some("503"), Some("200"), None])));
    assert!(
        is_open(&circuit_after(&[Some("503"), Some("400"), None])),
        "a 4xx says nothing"
    );
}

#[test]
fn a_trial_decides_about_the_circuit() {
    for (status, open) in [("200", false), ("500", true)] {
        let shared = SharedMap::default();
        let open_circuit = circuit_after(&[None, None]);
        let Admission::Trial { circuit, ticket } = admits(&open_circuit, 30_000, 60_000) else {
            panic!("the cool-down is over");
        };
        shared.borrow_mut().insert(
            "dragoman/1/circuit/w1".into(),
            (circuit.encode().to_vec(), 1),
        );
        let mut host = FakeHost {
            shared: Rc::clone(&shared),
            now: Duration::from_secs(31),
            ..host("a", "127.0.0.1:9101")
        };
        let bytes = plan();
        let plan = Plan {
            trial: Some(ticket.to_u32()),
            ..Plan::decode(&bytes).unwrap()
        };
        host.properties
            .insert("dragoman.plan".into(), plan.encode());
        let mut it = Exchange::new(&attempt(), host);
        it.request(BODY);
        it.response(&[(":status", status)], true);
        it.done();
        let shared = shared.borrow();
        let (bytes, _) = shared.get("dragoman/1/circuit/w1").unwrap();
        let closed = admits(&Circuit::decode(bytes), 31_000, 60_000) == Admission::Closed;
        assert_eq!(closed, !open, "{status}");
    }
}

#[test]
fn a_success_of_a_worker_without_failures_writes_nothing() {
    let mut it = at("a", "127.0.0.1:9101");
    it.request(BODY);
    it.response(&[(":status", "200")], true);
    it.done();
    assert!(
        !it.host
            .shared
            .borrow()
            .contains_key("dragoman/1/circuit/w1")
    );
}

#[test]
fn an_attempt_is_in_flight_until_it_is_over() {
    let in_flight = |it: &Exchange<_>| {
        let shared = it.host.shared.borrow();
        let (bytes, _) = shared.get("dragoman/1/load/0").unwrap();
        Seat::decode(bytes).unwrap().in_flight
    };
    let mut it = at("a", "127.0.0.1:9101");
    it.request(BODY);
    assert_eq!(in_flight(&it), [(worker_hash("w1"), 1)]);
    it.response(&[(":status", "200")], true);
    assert_eq!(in_flight(&it), [(worker_hash("w1"), 1)]);
    it.done();
    assert_eq!(in_flight(&it), []);
}

#[test]
fn an_outcome_that_others_were_faster_than_is_recorded_all_the_same() {
    let mut it = at("a", "127.0.0.1:9101");
    it.request(BODY);
    it.host.late_swaps = 3;
    it.done();
    assert_eq!(it.host.late_swaps, 0);
    let shared = it.host.shared.borrow();
    assert!(shared.contains_key("dragoman/1/circuit/w1"));
}

#[test]
fn a_circuit_that_opens_or_closes_is_logged() {
    let shared = SharedMap::default();
    let mut logged = Vec::new();
    for end in [Some("503"), None, Some("200")] {
        let mut it = Exchange::new(
            &attempt(),
            FakeHost {
                shared: Rc::clone(&shared),
                ..host("a", "127.0.0.1:9101")
            },
        );
        it.request(BODY);
        if let Some(status) = end {
            it.response(&[(":status", status)], true);
        }
        it.done();
        logged.extend(it.host.logged);
    }
    assert_eq!(logged, ["worker w1: circuit open (reset)"]);
}
