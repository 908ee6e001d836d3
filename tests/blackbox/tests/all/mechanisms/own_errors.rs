//! Envoy's own errors speak as the gateway does.

use blackbox::world::Places;
use blackbox::{At, Engine, Faults, How, Response, World, both_engines};
use serde_json::json;

use super::raw::{before_the_chain, probe};
use crate::support::{CHAT, one_worker, refused};

both_engines![
    what_is_not_well_formed_http_is_refused_in_json,
    each_error_of_envoys_own_has_a_fixed_code,
    on_messages_envoys_own_errors_have_anthropics_shape,
];

fn what_is_not_well_formed_http_is_refused_in_json(engine: Engine) {
    let world = one_worker(engine);
    let large = format!(
        "GET / HTTP/1.1\r\nhost: g\r\nx-large: {}\r\n\r\n",
        "x".repeat(100_000)
    );
    let table = [
        ("this is not HTTP\r\n\r\n", 400, "bad_request"),
        (
            "GET no-slash HTTP/1.1\r\nhost: g\r\n\r\n",
            400,
            "bad_request",
        ),
        ("GET / HTTP/1.1\r\n\r\n", 400, "bad_request"),
        ("GET /a%2Fb HTTP/1.1\r\nhost: g\r\n\r\n", 400, "bad_request"),
        (
            "GET / HTTP/1.1\r\nhost: g\r\nsnake_case: x\r\n\r\n",
            400,
            "bad_request",
        ),
        ("GET / HTTP/1.0\r\nhost: g\r\n\r\n", 426, "upgrade_required"),
        (
            "POST / HTTP/1.1\r\nhost: g\r\ntransfer-encoding: gzip\r\n\r\n",
            501,
            "not_implemented",
        ),
        (&large, 431, "headers_too_large"),
    ];
    for (bytes, status, code) in table {
        let response = world.connect().send(bytes).response();
        let shown = &bytes[..bytes.len().min(60)];
        assert_eq!(response.outcome(), refused(status, code), "{shown}");
        assert_eq!(
            response.header("content-type").as_deref(),
            Some("application/json"),
            "{shown}"
        );
    }
    assert_eq!(world.hits(), [0]);
}

/// How to have Envoy refuse a request by itself.
struct Case {
    what: &'static str,
    edit: fn(String, &Places<'_>) -> String,
    fail: fn(&World),
    body_bytes: usize,
    outcome: (u16, &'static str),
}

const CASE: Case = Case {
    what: "",
    edit: |yaml, _| yaml,
    fail: |_| {},
    body_bytes: 0,
    outcome: (0, ""),
};

const CASES: [Case; 6] = [
    Case {
        what: "no route",
        edit: |yaml, _| yaml.replace(r#"domains: ["*"]"#, r#"domains: ["other.test"]"#),
        outcome: (404, "not_found"),
        ..CASE
    },
    Case {
        what: "a limit of Envoy's below our own",
        edit: |yaml, _| {
            yaml.replace(
                "request_body_buffer_limit: ",
                "request_body_buffer_limit: 65536 #",
            )
            .replace(
                "per_connection_buffer_limit_bytes: ",
                "per_connection_buffer_limit_bytes: 16384 #",
            )
        },
        body_bytes: 300_000,
        outcome: (413, "request_too_large"),
        ..CASE
    },
    Case {
        what: "nobody at the address",
        fail: |world| world.worker("w1").refuse(),
        outcome: (503, "no_backend_available"),
        ..CASE
    },
    Case {
        what: "no member of that address",
        edit: |yaml, places| {
            let port = format!("port_value: {}}}", places.worker("w1").port());
            yaml.replace(&port, "port_value: 1}")
        },
        outcome: (503, "no_backend_available"),
        ..CASE
    },
    Case {
        what: "no answer in time",
        fail: |world| world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Stall)),
        outcome: (504, "upstream_timeout"),
        ..CASE
    },
    Case {
        what: "a trap",
        edit: |yaml, _| before_the_chain(&yaml, &probe("trapping", &["trap content-type"])),
        outcome: (503, "gateway_error"),
        ..CASE
    },
];

/// Each case, and what the client got.
fn refusals(engine: Engine, path: &str) -> Vec<(Case, Response)> {
    CASES
        .into_iter()
        .map(|case| {
            let world = World::on(engine)
                .worker("w1")
                .endpoint_with("chat", &[("w1", "large")], json!({"timeout_ms": 200}))
                .edit_yaml_with(case.edit)
                .start();
            (case.fail)(&world);
            let body = CHAT.replace("hi", &"x".repeat(case.body_bytes));
            let response = world.post(path, &body);
            (case, response)
        })
        .collect()
}

fn each_error_of_envoys_own_has_a_fixed_code(engine: Engine) {
    for (case, response) in refusals(engine, "/v1/chat/completions") {
        let (what, (status, code)) = (case.what, case.outcome);
        assert_eq!(
            response.outcome(),
            refused(status, code),
            "{what}: {response:?}"
        );
        let error = &response.json()["error"];
        let id = response.header("x-request-id");
        assert_eq!(error["request_id"].as_str(), id.as_deref(), "{what}");
        assert!(
            error["param"].is_null() && error["message"].is_string(),
            "{what}"
        );
        assert_eq!(
            response.header("retry-after").is_some(),
            status == 503,
            "{what}"
        );
    }
}

fn on_messages_envoys_own_errors_have_anthropics_shape(engine: Engine) {
    for (case, response) in refusals(engine, "/v1/messages") {
        let (what, (status, code)) = (case.what, case.outcome);
        assert_eq!(
            response.outcome(),
            refused(status, code),
            "{what}: {response:?}"
        );
        let body = response.json();
        assert_eq!(body["type"], "error", "{what}");
        assert!(body["error"]["type"].is_string(), "{what}");
        let id = response.header("x-request-id");
        assert_eq!(body["request_id"].as_str(), id.as_deref(), "{what}");
    }
}
