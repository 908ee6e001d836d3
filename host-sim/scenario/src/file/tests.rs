//! What the reader takes and what it refuses, with the line and the path of the fault.

use std::time::Duration;

use mock_worker::{At, How};
use serde_json::Value;

use super::*;

/// A scenario with more at its end.
fn with(more: &str) -> String {
    format!(
        "scenario: s\ngateway:\n  version: 1\n  auth: {{mode: off}}\n  workers: [{{id: w1, address: 127.0.0.1:9101}}]\n  endpoints: [{{name: chat, targets: [{{worker: w1}}]}}]\n{more}"
    )
}

/// The first line that [`with`] adds.
const FIRST: usize = 7;

fn reads(more: &str) -> Scenario {
    read(&with(more)).unwrap_or_else(|problems| panic!("{more}: {problems:?}"))
}

fn refuses(more: &str) -> Vec<(usize, String)> {
    let problems = read(&with(more)).expect_err(more);
    let tell = |problem: &Problem| {
        let text = format!("{}: {}", problem.path, problem.what);
        (problem.line + 1 - FIRST, text)
    };
    problems.iter().map(tell).collect()
}

#[test]
fn the_smallest_scenario_is_a_gateway() {
    let scenario = reads("");
    assert_eq!((scenario.threads, scenario.seeds.clone()), (1, 1..2));
    let Gateway::Inline(json) = &scenario.gateway else {
        panic!("{:?}", scenario.gateway)
    };
    assert!(json.contains(r#""mode":"off""#), "{json}");
}

#[test]
fn a_gateway_may_be_a_file() {
    for (path, expected) in [
        ("g.json", Gateway::Json("g.json".to_owned())),
        ("../e.yaml", Gateway::Envoy("../e.yaml".to_owned())),
    ] {
        let scenario = read(&format!("scenario: s\ngateway: {path}\n")).unwrap();
        assert_eq!(scenario.gateway, expected);
    }
    let problems = read("scenario: s\ngateway: g.txt\n").unwrap_err();
    assert!(problems[0].what.contains("gateway.json"), "{problems:?}");
}

#[test]
fn a_fault_of_the_gateway_has_its_line_here() {
    let text = "scenario: s\ngateway:\n  version: 1\n  auth: {mode: off}\n  workers:\n  - id: w1\n    address: 127.0.0.1:9101\n  endpoints:\n  - name: chat\n    targets:\n    - worker: w2\n";
    let problems = read(text).unwrap_err();
    assert_eq!(problems.len(), 1);
    assert_eq!(
        (problems[0].line, problems[0].path.as_str()),
        (11, "gateway.endpoints[0].targets[0].worker")
    );
    assert!(problems[0].what.contains("w2"), "{problems:?}");
}

#[test]
fn a_key_becomes_a_digest_in_the_gateway_and_a_header_of_the_request() {
    let text =
        with("keys: {alice: {tenant: acme, app: app}}\nrequests:\n- {chat: chat, key: alice}\n")
            .replace("auth: {mode: off}", "tenants: [{id: acme}]");
    let scenario = read(&text).unwrap();
    let Gateway::Inline(json) = &scenario.gateway else {
        panic!("{:?}", scenario.gateway)
    };
    let document: Value = serde_json::from_str(json).unwrap();
    let key = &document["auth"]["keys"][0];
    // printf %s sk-scenario-alice | sha256sum
    assert_eq!(
        key["sha256"],
        "aea8bcb72d521b20111269b28de6772ea31f0925239cb307f1dc540fbee108d3"
    );
    assert_eq!(key["tenant"], "acme");
    let authorization = (
        "authorization".to_owned(),
        "Bearer sk-scenario-alice".to_owned(),
    );
    assert!(scenario.requests[0].headers.contains(&authorization));
}

#[test]
fn a_worker_changes_over_time() {
    let scenario = reads(
        "workers:\n  w1:\n    key: k\n    models: [a, b]\n    delay: 300ms\n    then:\n    - {at: 1s, hang: {events: 2}, times: 3}\n    - {at: 2s, healthy: true, down: true}\n    - {at: 3s, down: false}\n",
    );
    let plan = &scenario.workers["w1"];
    assert_eq!(plan.models, ["a", "b"]);
    let times: Vec<u64> = plan.behaviours.iter().map(|(at, _)| at.as_secs()).collect();
    assert_eq!(times, [0, 1, 2, 3]);
    let faults = |index: usize| plan.behaviours[index].1.faults.clone();
    assert_eq!(faults(0).unwrap().delay_before_headers_ms, 300);
    let second = faults(1).unwrap();
    assert_eq!(second.times, Some(3));
    assert_eq!(
        second.interrupt.map(|stop| (stop.at, stop.how)),
        Some((At::Events(2), How::Stall))
    );
    assert_eq!(faults(2), Some(mock_worker::Faults::default()));
    assert_eq!(plan.behaviours[2].1.down, Some(true));
    assert_eq!((faults(3), plan.behaviours[3].1.down), (None, Some(false)));
}

#[test]
fn a_body_keeps_the_order_of_its_fields_and_grows_to_its_size() {
    let scenario = reads(
        "requests:\n- {chat: chat, stream: true, say: \"hi \\\"you\\\"\"}\n- {body: {z: 1, a: [x, \"1\", 1.5, off, null]}}\n- {body: 'ab${fill}c', size: 6}\n- {size: 4, path: /v1/files}\n- {path: /healthz}\n",
    );
    let body = |index: usize| {
        let body = scenario.requests[index].body.clone();
        body.map(|body| String::from_utf8(body).unwrap())
    };
    assert_eq!(
        body(0).as_deref(),
        Some(
            r#"{"model":"chat","stream":true,"messages":[{"role":"user","content":"hi \"you\""}]}"#
        )
    );
    assert_eq!(
        body(1).as_deref(),
        Some(r#"{"z":1,"a":["x","1",1.5,"off",null]}"#)
    );
    assert_eq!(body(2).as_deref(), Some("abxxxc"));
    assert_eq!(body(3).as_deref(), Some("xxxx"));
    assert_eq!(
        (body(4), scenario.requests[4].method.as_str()),
        (None, "GET")
    );
}

#[test]
fn the_wall_clock_jumps_from_where_it_is() {
    let scenario = reads(
        "start: 2026-06-01T00:00:00Z\nclock:\n- {at: 10s, forward: 1h}\n- {at: 20s, back: 30m}\n- {at: 30s, set: 2030-01-01T00:00:00Z}\n",
    );
    let start = 1_780_272_000;
    let expected = [
        (10, start + 10 + 3600),
        (20, start + 20 + 1800),
        (30, 1_893_456_000),
    ];
    let expected = expected.map(|(at, wall)| (Duration::from_secs(at), Duration::from_secs(wall)));
    assert_eq!(scenario.jumps, expected);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (more, line, text) in [
        (
            "thread: 2\n",
            1,
            "thread: there is no such field: known are about, clock",
        ),
        ("threads: 0\n", 1, "threads: 0: must be at least 1"),
        ("threads: 65\n", 1, "threads: 65: must be at most 64"),
        ("seeds: 1001\n", 1, "seeds: 1001: must be at most 1000"),
        ("until: 10\n", 1, "until: 10: must be a time like"),
        ("until: 367d\n", 1, "until: 367d: must be at most 366d"),
        ("start: today\n", 1, "start: today: must be a date"),
        (
            "requests:\n- chat: c\n  at: 1s\n  after: 1s\n",
            2,
            "requests[0]: needs at most one of at and after",
        ),
        (
            "requests:\n- chat: c\n  body: {}\n",
            3,
            "requests[0].body: chat makes the body",
        ),
        (
            "requests:\n- body: {}\n  say: hi\n",
            3,
            "requests[0].say: there is no such field",
        ),
        (
            "requests:\n- key: bob\n",
            2,
            "requests[0].key: bob: is none of keys",
        ),
        (
            "requests:\n- path: v1\n",
            2,
            "requests[0].path: v1: must begin with /",
        ),
        (
            "requests:\n- times: 10001\n",
            2,
            "requests[0].times: 10001: must be at most 10000",
        ),
        (
            "requests:\n- times: 9999\n- times: 2\n",
            3,
            "requests[1]: there are more than 10000 requests",
        ),
        (
            "requests:\n- {size: 100MB}\n- {size: 100MB, times: 2}\n",
            3,
            "requests[1]: the bodies of all requests have more than",
        ),
        (
            "requests:\n- {body: abc, cut: [2, 1]}\n",
            2,
            "requests[0].cut: must be rising offsets",
        ),
        (
            "requests:\n- {body: abc, cut: [4]}\n",
            2,
            "requests[0].cut: must be rising offsets into the body, which has 3",
        ),
        (
            "requests:\n- {body: abc, size: 5}\n",
            2,
            "requests[0].size: needs ${fill} once",
        ),
        (
            "requests:\n- {body: 'abc${fill}', size: 2}\n",
            2,
            "requests[0].size: 2: the body without ${fill} has 3",
        ),
        (
            "requests:\n- {size: 1GB}\n",
            2,
            "requests[0].size: 1GB: must be a number of bytes",
        ),
        (
            "requests:\n- {body: {a: 010}}\n",
            2,
            "requests[0].body.a: 010: is no number in JSON",
        ),
        (
            "requests:\n- {name: a}\n- {name: a}\n",
            3,
            "requests[1]: name: a: there is another",
        ),
        (
            "requests:\n- expect: {same_body_as: first}\n",
            2,
            "requests[0].expect.same_body_as: first: there is no request",
        ),
        (
            "requests:\n- expect: {status: {}}\n",
            2,
            "requests[0].expect.status: says nothing",
        ),
        (
            "requests:\n- expect: {status: {is: 200, no: 1}}\n",
            2,
            "requests[0].expect.status.no: there is no such field: known are at_least",
        ),
        (
            "requests:\n- expect: {ended: well}\n",
            2,
            "requests[0].expect.ended: well: must be complete",
        ),
        (
            "requests:\n- expect: {statuses: {ok: 1}}\n",
            2,
            "requests[0].expect.statuses.ok: its key must be a status",
        ),
        (
            "requests:\n- expect: {took: {at_least: 2s, at_most: 1s}}\n",
            2,
            "requests[0].expect.took: at_least must not be above",
        ),
        (
            "workers:\n  w1: {healthy: true, status: 500}\n",
            2,
            "workers.w1: healthy: stands beside",
        ),
        (
            "workers:\n  w1: {times: 2}\n",
            2,
            "workers.w1: times and path say which requests",
        ),
        (
            "workers:\n  w1: {hang: before_head, reset: before_head}\n",
            2,
            "workers.w1: an answer stops in one way",
        ),
        (
            "workers:\n  w1: {hang: later}\n",
            2,
            "workers.w1.hang: later: must be before_head",
        ),
        (
            "workers:\n  w1: {delay: 1500us}\n",
            2,
            "workers.w1.delay: must be whole milliseconds",
        ),
        (
            "workers:\n  w1: {then: [{at: 1s}]}\n",
            2,
            "workers.w1.then[0]: changes nothing",
        ),
        (
            "edit:\n- {replace: '', with: x}\n",
            2,
            "edit[0]: replace: must not be empty",
        ),
        (
            "edit:\n- {replace: a, with: b}\nupdates: []\n",
            3,
            "updates: edit changes the first envoy.yaml only",
        ),
        (
            "keys: {a: {sha256: b}}\n",
            1,
            "keys.a: sha256: the scenario makes it",
        ),
        (
            "expect:\n  metrics: {'a{b}': 1}\n",
            2,
            "expect.metrics.a{b}: its key must be a metric",
        ),
        (
            "expect:\n  workers: {w1: {requests: {at_least: 3, at_most: 2}}}\n",
            2,
            "expect.workers.w1.requests: must be a number",
        ),
        (
            "clock:\n- {at: 2s, forward: 1s}\n- {at: 1s, forward: 1s}\n",
            3,
            "clock[1]: at: must not be before",
        ),
        (
            "clock:\n- {at: 2s}\n",
            2,
            "clock[0]: needs one of set, forward and back",
        ),
    ] {
        let found = refuses(more);
        assert!(
            found
                .iter()
                .any(|(at, what)| *at == line && what.starts_with(text)),
            "{more}\n{found:?}"
        );
    }
}

#[test]
fn every_unknown_field_is_told_at_once() {
    let found = refuses("thread: 2\nrequests:\n- {chat: chat, head: {}}\nexpect: {worker: {}}\n");
    let lines: Vec<usize> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [1, 3, 4], "{found:?}");
}

#[test]
fn no_text_makes_the_reader_panic() {
    for text in [
        "",
        "a",
        "- a",
        "{",
        "scenario: s",
        "scenario: [",
        "scenario: s\ngateway: {}\n",
        "&a [*a]",
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}
