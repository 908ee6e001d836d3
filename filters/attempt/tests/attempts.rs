//! Whole attempts on the fake host.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use dragoman_attempt::Attempt;
use dragoman_circuit::{Admission, Circuit, admits};
use dragoman_contract::load::{Seat, worker_hash};
use dragoman_contract::{Candidate, Plan};
use dragoman_sdk::fake::{Exchange, FakeHost, SharedMap};
use dragoman_sdk::{Action, Filter, Plugin};

const CONFIG: &str = r#"{
  "version": 1, "endpoints": [], "auth": {"mode": "off"}, "circuit": {"threshold": 2, "cooldown_seconds": 30},
  "workers": [{"id": "w1", "cluster": "a", "address": "127.0.0.1:9101", "credential": {"env": "W1_KEY"}},
              {"id": "w2", "cluster": "b", "address": "127.0.0.1:9102", "credential": {"env": "W2_KEY", "header": "x-worker-key"}},
              {"id": "w3", "cluster": "b", "address": "127.0.0.1:9103"}]
}"#;
const BODY: &[u8] = br#"{"model":"chat","seed":9007199254740995}"#;

fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn attempt() -> Rc<Attempt> {
    let environment = environment(&[("W1_KEY", "first-secret"), ("W2_KEY", "two")]);
    Rc::new(Attempt::configure(CONFIG.as_bytes(), &environment).unwrap())
}

fn plan() -> Vec<u8> {
    let candidate = |cluster, address, worker, served_model_name| Candidate {
        cluster,
        address,
        worker,
        served_model_name,
    };
    let candidates = vec![
        candidate("a", "127.0.0.1:9101", "w1", "large-model"),
        candidate("b", "127.0.0.1:9102", "w2", "m"),
        candidate("b", "127.0.0.1:9103", "w3", "chat"),
    ];
    Plan {
        body_len: 40,
        model_start: 9,
        model_end: 15,
        timeout_ms: 1000,
        trial: None,
        candidates,
    }
    .encode()
}

/// A host for an attempt at `address` in `cluster`, with the headers an earlier attempt left.
fn host(cluster: &str, address: &str) -> FakeHost {
    let mut host = FakeHost::new(&[
        (":authority", "gateway.example"),
        ("authorization", "Bearer of-the-client"),
        ("x-worker-key", "left-over"),
        ("x-api-key", "of-the-client"),
        (
            "x-gateway-destination-endpoint",
            "127.0.0.1:9101,127.0.0.1:9102",
        ),
        ("x-dragoman-cluster", "a"),
        ("x-dragoman-routed", "1"),
        ("accept-encoding", "gzip"),
        ("content-length", "40"),
        ("x-note", "stays"),
    ]);
    host.properties.insert("dragoman.plan".into(), plan());
    host.properties
        .insert("upstream.address".into(), address.into());
    host.properties
        .insert("xds.cluster_name".into(), cluster.into());
    host
}

fn at(cluster: &str, address: &str) -> Exchange<impl Filter> {
    Exchange::new(&attempt(), host(cluster, address))
}

fn names(host: &FakeHost) -> Vec<String> {
    let pairs = host.request.as_ref().unwrap();
    pairs
        .iter()
        .map(|(name, value)| {
            format!(
                "{}: {}",
                String::from_utf8_lossy(name),
                String::from_utf8_lossy(value)
            )
        })
        .collect()
}

#[test]
fn a_worker_gets_its_model_name_its_credential_and_nothing_of_ours() {
    let mut it = at("a", "127.0.0.1:9101");
    assert_eq!(it.request(BODY), Action::Continue);
    assert_eq!(
        it.host.body,
        br#"{"model":"large-model","seed":9007199254740995}"#
    );
    assert_eq!(
        names(&it.host),
        [
            "x-note: stays",
            "x-dragoman-cluster: b",
            "content-length: 47",
            ":authority: 127.0.0.1:9101",
            "authorization: Bearer first-secret",
        ]
    );
    assert_eq!(it.host.properties["dragoman.worker"], b"w1");
}

#[test]
fn a_later_worker_never_sees_an_earlier_ones_credential() {
    let mut it = at("b", "127.0.0.1:9102");
    it.request(BODY);
    assert_eq!(it.host.body, br#"{"model":"m","seed":9007199254740995}"#);
    assert_eq!(
        it.host.request_header("x-worker-key").as_deref(),
        Some("two")
    );
    assert_eq!(it.host.request_header("authorization"), None);
    assert_eq!(
        it.host.request_header("content-length").as_deref(),
        Some("37")
    );

    let mut it = at("b", "127.0.0.1:9103");
    it.request(BODY);
    assert_eq!(it.host.body, BODY);
    for name in ["x-worker-key", "authorization", "x-api-key"] {
        assert_eq!(it.host.request_header(name), None, "{name}");
    }
}

/// A callout of `poll` at `address`, with a token that the process has or has not.
fn callout(token: &str, address: &str) -> FakeHost {
    let mut host = FakeHost::new(&[
        (":authority", "x"),
        ("x-gateway-destination-endpoint", address),
        ("x-dragoman-probe", token),
    ]);
    let known = ("dragoman/1/probe_token".to_owned(), (b"secret".to_vec(), 1));
    host.shared.borrow_mut().extend([known]);
    host.properties
        .insert("upstream.address".into(), address.into());
    host.properties
        .insert("xds.cluster_name".into(), "a".into());
    host
}

#[test]
fn a_callout_with_the_probe_token_carries_the_workers_credential() {
    let mut it = Exchange::new(&attempt(), callout("secret", "127.0.0.1:9101"));
    assert_eq!(it.headers(true), Action::Continue);
    assert_eq!(
        names(&it.host),
        [
            ":authority: 127.0.0.1:9101",
            "authorization: Bearer first-secret"
        ]
    );
}

#[test]
fn nobody_else_gets_a_credential_without_a_plan() {
    let client = {
        let mut host = callout("secret", "127.0.0.1:9101");
        host.properties.insert("connection.id".into(), vec![1; 8]);
        host
    };
    let unmarked = {
        let host = callout("", "127.0.0.1:9101");
        host.shared.borrow_mut().clear();
        host
    };
    for host in [
        callout("guess", "127.0.0.1:9101"),
        callout("secret", "127.0.0.1:9999"),
        client,
        unmarked,
    ] {
        let mut it = Exchange::new(&attempt(), host);
        assert_eq!(it.headers(true), Action::Pause);
        assert_eq!(it.host.replied.as_ref().unwrap().status, 500);
        assert_eq!(it.host.request_header("authorization"), None);
    }
}

#[test]
fn an_address_outside_the_plan_gets_no_credential_and_no_request() {
    for (cluster, address) in [
        ("a", "127.0.0.1:9102"),
        ("b", "127.0.0.1:9101"),
        ("a", ""),
        ("", "127.0.0.1:9101"),
    ] {
        let mut it = at(cluster, address);
        assert_eq!(it.headers(false), Action::Pause);
        assert_eq!(
            it.host.replied.as_ref().unwrap().status,
            503,
            "{cluster} {address}"
        );
        for name in ["x-worker-key", "authorization"] {
            assert_eq!(it.host.request_header(name), None, "{name}");
        }
    }
}

#[test]
fn a_request_without_a_plan_goes_nowhere() {
    for plan in [None, Some(Vec::new()), Some(vec![9; 40])] {
        let mut host = host("a", "127.0.0.1:9101");
        host.properties.remove("dragoman.plan");
        host.properties
            .extend(plan.map(|plan| ("dragoman.plan".to_owned(), plan)));
        let mut it = Exchange::new(&attempt(), host);
        assert_eq!(it.headers(false), Action::Pause);
        assert_eq!(it.host.replied.as_ref().unwrap().status, 500);
        assert_eq!(it.host.request_header("authorization"), None);
    }
}

#[test]
fn a_body_that_is_not_the_planned_one_is_not_sent() {
    for body in [&BODY[..39], b"", &[BODY, b" "].concat()] {
        let mut it = at("a", "127.0.0.1:9101");
        assert_eq!(it.request(body), Action::Pause);
        assert_eq!(it.host.replied.unwrap().status, 500);
    }
}

#[test]
fn a_worker_cannot_speak_for_the_gateway() {
    let mut it = at("a", "127.0.0.1:9101");
    it.request(BODY);
    let forged = [
        (":status", "200"),
        ("x-aisuite-backend", "forged"),
        ("x-dragoman-explain", "forged"),
        ("x-cache", "hit"),
        ("idempotency-replayed", "true"),
        ("x-ratelimit-remaining", "stays"),
    ];
    it.response(&forged, false);
    assert_eq!(
        it.host.response_header("x-aisuite-backend").as_deref(),
        Some("w1")
    );
    for name in ["x-dragoman-explain", "x-cache", "idempotency-replayed"] {
        assert_eq!(it.host.response_header(name), None, "{name}");
    }
    assert_eq!(
        it.host.response_header("x-ratelimit-remaining").as_deref(),
        Some("stays")
    );
}

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
fn a_credential_that_is_not_there_or_not_a_header_value_is_a_faulty_configuration() {
    for (value, reason) in [
        (None, "not set in the environment of Envoy"),
        (Some(""), "not set in the environment of Envoy"),
        (
            Some("a\nb"),
            "holds a byte that a header value cannot carry",
        ),
    ] {
        let mut variables = environment(&[("W1_KEY", "first-secret")]);
        variables.extend(value.map(|value| ("W2_KEY".to_owned(), value.to_owned())));
        let error = Attempt::configure(CONFIG.as_bytes(), &variables).unwrap_err();
        assert_eq!(
            error,
            format!("workers[1].credential.env: W2_KEY: {reason}")
        );
    }
}

#[test]
fn a_secret_does_not_show_up_in_debug_output() {
    assert!(!format!("{:?}", attempt()).contains("first-secret"));
}
