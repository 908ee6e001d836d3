//! What a worker gets of a request and a client of its answer, on the fake host.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod support;

use dragoman_attempt::Attempt;
use dragoman_sdk::fake::Exchange;
use dragoman_sdk::{Action, Plugin};

use support::{BODY, CONFIG, at, attempt, environment, host, names};

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
        ("x-envoy-ratelimited", "true"),
        ("authorization", "Bearer first-secret"),
        ("x-worker-key", "two"),
        ("x-ratelimit-remaining", "stays"),
    ];
    it.response(&forged, false);
    assert_eq!(
        it.host.response_header("x-aisuite-backend").as_deref(),
        Some("w1")
    );
    for name in [
        "x-dragoman-explain",
        "x-cache",
        "idempotency-replayed",
        "x-envoy-ratelimited",
        "authorization",
        "x-worker-key",
    ] {
        assert_eq!(it.host.response_header(name), None, "{name}");
    }
    assert_eq!(
        it.host.response_header("x-ratelimit-remaining").as_deref(),
        Some("stays")
    );
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
