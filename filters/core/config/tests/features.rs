//! The features that are off without their section, taken and refused.

mod support;

use dragoman_config::{Gateway, OnUnknown, parse};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn document(sections: &str) -> String {
    format!(r#"{{"version":1,"workers":[],"endpoints":[]{sections}}}"#)
}

fn good(sections: &str) -> Gateway {
    support::good(&document(sections))
}

fn check(section: &str, cases: &[(&str, &str)]) {
    for (given, expected) in cases {
        let text = document(&format!(r#","{section}":{given}"#));
        let expected = format!("{section}{expected}");
        assert_eq!(support::refusal(&text), expected, "{given}");
    }
}

#[test]
fn without_its_section_a_feature_is_off() {
    let gateway = good("");
    assert!(gateway.tenants.is_empty() && gateway.limits.is_empty());
    assert!(gateway.idempotency.is_none() && gateway.health.is_none());
    assert!(gateway.circuit.is_none());
}

#[test]
fn an_empty_section_means_its_defaults() {
    let gateway = good(r#","idempotency":{},"health":{},"circuit":{}"#);
    let idempotency = gateway.idempotency.unwrap();
    assert_eq!((idempotency.ttl_s, idempotency.lease_s), (86_400, 60));
    assert_eq!(idempotency.max_response_bytes, 1_048_576);
    assert_eq!(idempotency.on_unknown, OnUnknown::Release);
    let health = gateway.health.unwrap();
    assert_eq!((health.check_seconds, health.timeout_ms), (10, 2000));
    assert_eq!(health.ready_path, "/readyz");
    assert_eq!(health.models_path, "/v1/models");
    let circuit = gateway.circuit.unwrap();
    assert_eq!((circuit.threshold, circuit.cooldown_ms), (5, 30_000));
}

#[test]
fn what_a_section_says_is_what_it_means() {
    let gateway = good(
        r#","idempotency":{"ttl_s":60,"max_response_bytes":4194304,"lease_s":10,"on_unknown":"hold"},
        "health":{"health_check_seconds":3600,"timeout_ms":60000,"ready_path":"/","models_path":"/m?a=b"},
        "circuit":{"threshold":1000,"cooldown_seconds":3600}"#,
    );
    let idempotency = gateway.idempotency.unwrap();
    assert_eq!((idempotency.ttl_s, idempotency.lease_s), (60, 10));
    assert_eq!(idempotency.max_response_bytes, 4_194_304);
    assert_eq!(idempotency.on_unknown, OnUnknown::Hold);
    let health = gateway.health.unwrap();
    assert_eq!((health.check_seconds, health.timeout_ms), (3600, 60_000));
    assert_eq!(
        (health.ready_path.as_str(), health.models_path.as_str()),
        ("/", "/m?a=b")
    );
    let circuit = gateway.circuit.unwrap();
    assert_eq!((circuit.threshold, circuit.cooldown_ms), (1000, 3_600_000));
}

#[test]
fn a_check_ends_before_the_next_begins() {
    let health = |fields: &str| good(&format!(r#","health":{{{fields}}}"#)).health.unwrap();
    assert_eq!(health(r#""health_check_seconds":1"#).timeout_ms, 1000);
    assert_eq!(
        health(r#""health_check_seconds":1,"timeout_ms":1000"#).timeout_ms,
        1000
    );
    check(
        "health",
        &[(
            r#"{"health_check_seconds":1,"timeout_ms":1001}"#,
            ".timeout_ms: 1001: must be at most 1000",
        )],
    );
}

#[test]
fn idempotency_has_its_form() {
    check(
        "idempotency",
        &[
            ("true", ": true: must be an object"),
            (r#"{"ttl":60}"#, ".ttl: unknown field"),
            (r#"{"ttl_s":59}"#, ".ttl_s: 59: must be at least 60"),
            (
                r#"{"ttl_s":604801}"#,
                ".ttl_s: 604801: must be at most 604800",
            ),
            (
                r#"{"max_response_bytes":1023}"#,
                ".max_response_bytes: 1023: must be at least 1024",
            ),
            (
                r#"{"max_response_bytes":4194305}"#,
                ".max_response_bytes: 4194305: must be at most 4194304",
            ),
            (r#"{"lease_s":9}"#, ".lease_s: 9: must be at least 10"),
            (
                r#"{"lease_s":3601}"#,
                ".lease_s: 3601: must be at most 3600",
            ),
            (
                r#"{"on_unknown":"retry"}"#,
                r#".on_unknown: "retry": must be one of release, hold"#,
            ),
        ],
    );
}

#[test]
fn health_has_its_form() {
    let path = "must be a path: / and at most 256 bytes of visible ASCII without #";
    check(
        "health",
        &[
            ("null", ": null: must be an object"),
            (r#"{"seconds":1}"#, ".seconds: unknown field"),
            (
                r#"{"health_check_seconds":0}"#,
                ".health_check_seconds: 0: must be at least 1",
            ),
            (
                r#"{"health_check_seconds":3601}"#,
                ".health_check_seconds: 3601: must be at most 3600",
            ),
            (r#"{"timeout_ms":0}"#, ".timeout_ms: 0: must be at least 1"),
            (
                r#"{"health_check_seconds":3600,"timeout_ms":60001}"#,
                ".timeout_ms: 60001: must be at most 60000",
            ),
            (
                r#"{"ready_path":""}"#,
                &format!(r#".ready_path: "": {path}"#),
            ),
            (
                r#"{"ready_path":"readyz"}"#,
                &format!(r#".ready_path: "readyz": {path}"#),
            ),
            (
                r#"{"ready_path":"/a b"}"#,
                &format!(r#".ready_path: "/a b": {path}"#),
            ),
            (
                r#"{"models_path":"/a#b"}"#,
                &format!(r#".models_path: "/a#b": {path}"#),
            ),
            (
                r#"{"models_path":"/ü"}"#,
                &format!(r#".models_path: "/ü": {path}"#),
            ),
            (
                r#"{"models_path":"/a\r\nb"}"#,
                &format!(r#".models_path: "/a\u000d\u000ab": {path}"#),
            ),
        ],
    );
    let long = format!(r#"{{"ready_path":"/{}"}}"#, "a".repeat(256));
    let fault = parse(document(&format!(r#","health":{long}"#)).as_bytes()).unwrap_err();
    assert!(fault.to_string().ends_with(path), "{fault}");
}

#[test]
fn a_circuit_has_its_form() {
    check(
        "circuit",
        &[
            (r#"{"threshold":0}"#, ".threshold: 0: must be at least 1"),
            (
                r#"{"threshold":1001}"#,
                ".threshold: 1001: must be at most 1000",
            ),
            (
                r#"{"cooldown_seconds":0}"#,
                ".cooldown_seconds: 0: must be at least 1",
            ),
            (
                r#"{"cooldown_seconds":3601}"#,
                ".cooldown_seconds: 3601: must be at most 3600",
            ),
            (r#"{"cooldown_s":1}"#, ".cooldown_s: unknown field"),
        ],
    );
}

#[test]
fn a_worker_may_have_a_cap() {
    for (field, expected) in [
        ("", None),
        (r#","max_in_flight":1"#, Some(1)),
        (r#","max_in_flight":100000"#, Some(100_000)),
    ] {
        let text = format!(
            r#"{{"version":1,"endpoints":[],"workers":[{{"id":"w","address":"127.0.0.1:80"{field}}}]}}"#
        );
        let gateway = parse(text.as_bytes()).unwrap();
        assert_eq!(gateway.workers[0].max_in_flight, expected, "{field}");
    }
}
