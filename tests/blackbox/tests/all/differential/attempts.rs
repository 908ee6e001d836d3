//! Filters of a cluster: once for each attempt.

use blackbox::Faults;
use blackbox::differential::Case;
use blackbox::plugin::scripted;
use serde_json::{Value, json};

fn retrying() -> Value {
    json!({"cluster": "workers", "timeout": "5s", "retry_policy": {"retry_on": "5xx,reset,connect-failure", "num_retries": 2}})
}

#[test]
fn attempts_share_the_head_and_have_the_body_anew() {
    let script = "
        request_headers: get_property upstream/request_attempt_count
        request_headers: get_header_map_value 0 x-seen
        request_headers: add_header_map_value 0 x-seen before
        request_headers: remove_header_map_value 0 content-length
        request_body: get_buffer_bytes 0 0 100
        request_body end: set_buffer_bytes 0 0 0 new-
        log: get_property response/code";

    let seen = Case::new()
        .filter(
            scripted(
                "a",
                "request_headers: return 1\nrequest_body more: return 1",
            )
            .with_headers_stop(),
        )
        .attempt(scripted("up", script))
        .fault("w1", Faults::status(503).times(2))
        .route(retrying())
        .run(|client| drop(client.post("/x", "body")));

    assert_eq!(seen.statuses(), [404]);
    assert_eq!(
        seen.answers("get_header_map_value 0 x-seen"),
        ["1", "0 \"before\"", "0 \"before\""]
    );
    assert_eq!(seen.said("up: log("), 0, "no on_log in an attempt");
    assert_eq!(seen.said("up: done("), 3);
}

#[test]
fn an_attempts_own_answer_ends_the_retries() {
    let seen = Case::new()
        .filter(scripted(
            "a",
            "response_headers: get_property response/code_details",
        ))
        .attempt(scripted(
            "up",
            "request_headers: send_local_response 503 no - mine",
        ))
        .route(retrying())
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.statuses(), [503]);
    assert_eq!(seen.said("up: request_headers("), 1);
    assert!(seen.workers().is_empty());
}

#[test]
fn an_attempt_can_change_what_the_retry_is_decided_by() {
    let script = "
        response_headers #1: get_header_map_value 2 :status
        response_headers: replace_header_map_value 2 :status 503";

    let seen = Case::new()
        .attempt(scripted("up", script))
        .route(retrying())
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.statuses(), [503]);
    assert_eq!(seen.said("up: response_headers("), 3);
}
