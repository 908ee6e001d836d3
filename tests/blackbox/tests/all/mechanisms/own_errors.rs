//! Envoy's own errors speak as the gateway does.

use blackbox::world::Places;
use blackbox::{At, Engine, Faults, How, Response, World, both_engines};
use serde_json::json;

use crate::support::{CHAT, one_worker, refused};
use blackbox::plugin::probe;
use blackbox::raw::before_the_chain;

both_engines![
    what_is_not_well_formed_http_is_refused_in_json,
    each_error_of_envoys_own_has_a_fixed_code_and_the_shape_of_its_api,
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
    fail: fn(&World),
    body_bytes: usize,
    header: &'static str,
    outcome: (u16, &'static str),
}

const CASE: Case = Case {
    what: "",
    fail: |_| {},
    body_bytes: 0,
    header: "x-nothing: 1",
    outcome: (0, ""),
};

/// A configuration and what goes wrong with it.
type Group = (fn(String, &Places<'_>) -> String, &'static [Case]);

const GROUPS: [Group; 3] = [
    (
        |yaml, _| before_the_chain(&yaml, &probe("trapping", &["trap x-boom"])),
        &[
            Case {
                what: "no answer in time",
                fail: |world| world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Stall)),
                outcome: (504, "upstream_timeout"),
                ..CASE
            },
            Case {
                what: "nobody at the address",
                fail: |world| world.worker("w1").refuse(),
                outcome: (503, "no_backend_available"),
                ..CASE
            },
            Case {
                what: "a trap",
                header: "x-boom: 1",
                outcome: (503, "gateway_error"),
                ..CASE
            },
        ],
    ),
    (
        small_limit_and_another_member,
        &[
            Case {
                what: "a limit of Envoy's below our own",
                body_bytes: 300_000,
                outcome: (413, "request_too_large"),
                ..CASE
            },
            Case {
                what: "no member of that address",
                outcome: (503, "no_backend_available"),
                ..CASE
            },
        ],
    ),
    (
        |yaml, _| yaml.replace(r#"domains: ["*"]"#, r#"domains: ["other.test"]"#),
        &[Case {
            what: "no route",
            outcome: (404, "not_found"),
            ..CASE
        }],
    ),
];

fn small_limit_and_another_member(yaml: String, places: &Places<'_>) -> String {
    let port = format!("port_value: {}}}", places.worker("w1").port());
    yaml.replace(&port, "port_value: 1}")
        .replace(
            "request_body_buffer_limit: ",
            "request_body_buffer_limit: 65536 #",
        )
        .replace(
            "per_connection_buffer_limit_bytes: ",
            "per_connection_buffer_limit_bytes: 16384 #",
        )
}

fn each_error_of_envoys_own_has_a_fixed_code_and_the_shape_of_its_api(engine: Engine) {
    for (edit, cases) in GROUPS {
        let world = World::on(engine)
            .worker("w1")
            .endpoint_with("chat", &[("w1", "large")], json!({"timeout_ms": 1000}))
            .edit_yaml_with(edit)
            .start();
        for case in cases {
            (case.fail)(&world);
            let body = CHAT.replace("hi", &"x".repeat(case.body_bytes));
            let ask = |path| {
                let headers = ["content-type: application/json", case.header];
                world.request("POST", path, &headers, body.as_bytes())
            };
            speaks_openai(case, &ask("/v1/chat/completions"));
            // A trapped filter is away until its back-off is over; that is no other answer.
            speaks_anthropic(case, &ask("/v1/messages"));
        }
    }
}

fn speaks_openai(case: &Case, response: &Response) {
    let (what, (status, code)) = (case.what, case.outcome);
    let outcome = response.outcome();
    assert_eq!(outcome, refused(status, code), "{what}: {response:?}");
    let error = &response.json()["error"];
    let id = response.header("x-request-id");
    assert_eq!(error["request_id"].as_str(), id.as_deref(), "{what}");
    assert!(error["message"].is_string(), "{what}: {error}");
    assert!(error["param"].is_null(), "{what}: {error}");
    let retry = response.header("retry-after").is_some();
    assert_eq!(retry, status == 503, "{what}");
}

fn speaks_anthropic(case: &Case, response: &Response) {
    let (what, (status, code)) = (case.what, case.outcome);
    let outcome = response.outcome();
    assert_eq!(outcome, refused(status, code), "{what}: {response:?}");
    let body = response.json();
    assert_eq!(body["type"], "error", "{what}: {body}");
    assert!(body["error"]["type"].is_string(), "{what}: {body}");
    let id = response.header("x-request-id");
    assert_eq!(body["request_id"].as_str(), id.as_deref(), "{what}");
}
