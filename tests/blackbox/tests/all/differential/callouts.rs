//! Requests that a guest sends by itself.

use blackbox::differential::Case;
use blackbox::plugin::scripted;
use blackbox::{At, Faults, How};

/// Says all of an answer, and lets the request go on.
const ANSWER: &str = "
    http_call_response: get_header_map_pairs 6
    http_call_response: get_header_map_value 6 :status
    http_call_response: get_header_map_value 6 x-none
    http_call_response: get_header_map_size 6
    http_call_response: get_header_map_pairs 7
    http_call_response: get_header_map_value 7 x-none
    http_call_response: get_buffer_bytes 4 0 1000
    http_call_response: get_buffer_bytes 4 1 2
    http_call_response: get_buffer_status 4
    http_call_response: set_buffer_bytes 4 0 0 x
    http_call_response: add_header_map_value 6 x 1
    http_call_response: get_status
    http_call_response: set_effective_context $caller
    http_call_response: continue_stream 0";

fn script(call: &str) -> String {
    format!("request_headers: http_call {call}\nrequest_headers: return 1\n{ANSWER}")
}

const READY: &str = ":method=GET;:path=/readyz;:authority=c";

fn called(faults: Faults) -> Faults {
    Faults {
        path: Some("/readyz".to_owned()),
        ..faults
    }
}

#[test]
fn an_answer_is_at_hand_in_its_callback_only() {
    let script = script(&format!("called {READY} - - 5000"))
        + "\nresponse_headers: get_header_map_value 6 :status\nresponse_headers: get_buffer_bytes 4 0 10";

    let seen = Case::new()
        .filter(scripted("a", &script))
        .cluster("called", &["c1"])
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(
        seen.answers("get_header_map_value 6 :status"),
        ["0 \"200\"", "2"]
    );
    assert_eq!(
        seen.answers("get_buffer_bytes 4"),
        ["0 \"ok\\n\"", "0 \"k\\n\"", "1"]
    );
}

#[test]
fn the_callback_comes_on_the_root_context() {
    let script = format!(
        "
        request_headers: http_call called {READY} - - 5000
        request_headers: return 1
        http_call_response: get_header_map_value 0 :path
        http_call_response: continue_stream 0
        http_call_response: set_effective_context $caller
        http_call_response: get_header_map_value 0 :path
        http_call_response: continue_stream 0"
    );

    let seen = Case::new()
        .filter(scripted("a", &script))
        .cluster("called", &["c1"])
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(
        seen.callbacks("(a)").last(),
        Some(&"http_call_response(1, 4, 4, 3, 0)")
    );
    assert_eq!(
        seen.answers("get_header_map_value 0"),
        ["2", "0 \"/readyz\""]
    );
}

#[test]
fn a_call_that_cannot_be_made_is_refused_at_once() {
    let script = format!(
        "
        request_headers: http_call nowhere {READY} - - 1000
        request_headers: http_call called :path=/;:authority=c - - 1000
        request_headers: http_call called :method=GET;:authority=c - - 1000
        request_headers: http_call called :method=GET;:path=/ - - 1000
        request_headers: http_call called - - - 1000
        request_headers: http_call called {READY} - - -1
        request_headers: http_call - {READY} - - 1000
        request_headers: http_call empty {READY} - - 1000
        request_headers: http_call called {READY} - - 1000
        request_headers: return 1
        http_call_response: set_effective_context $caller
        http_call_response: continue_stream 0"
    );

    let seen = Case::new()
        .filter(scripted("a", &script))
        .cluster("called", &["c1"])
        .cluster("empty", &[])
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(
        seen.answers("http_call"),
        ["2", "2", "2", "2", "2", "2", "2", "10", "0 token 8"]
    );
}

#[test]
fn what_a_called_worker_gets() {
    let script = script(
        "called :method=POST;:path=/x?y;:authority=c;x-a=1;x-a=2;content-type=text/plain a%20body x-t=1 5000",
    );

    let seen = Case::new()
        .filter(scripted("a", &script))
        .cluster("called", &["c1"])
        .run(|client| drop(client.get("/readyz")));

    assert!(
        seen.workers()
            .contains(&"  x-envoy-internal: true".to_owned()),
        "{:?}",
        seen.workers()
    );
    assert!(seen.workers().contains(&"  \"a body\"".to_owned()));
}

#[test]
fn a_call_that_takes_too_long_is_answered_with_504() {
    let seen = Case::new()
        .filter(scripted("a", &script(&format!("called {READY} - - 100"))))
        .cluster("called", &["c1"])
        .fault(
            "c1",
            called(Faults::interrupt(At::BeforeHeaders, How::Stall)),
        )
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(
        seen.answers("get_header_map_value 6 :status"),
        ["0 \"504\""]
    );
    assert_eq!(
        seen.answers("get_buffer_bytes 4 0 1000"),
        ["0 \"upstream request timeout\""]
    );
}

#[test]
fn a_call_that_is_refused_is_answered_with_503() {
    let seen = Case::new()
        .filter(scripted("a", &script(&format!("called {READY} - - 5000"))))
        .cluster("called", &["c1"])
        .run(|client| {
            client.world().worker("c1").refuse();
            drop(client.get("/readyz"));
        });

    assert_eq!(
        seen.answers("get_header_map_value 6 :status"),
        ["0 \"503\""]
    );
}

#[test]
fn a_call_that_breaks_in_its_body_has_no_headers() {
    let seen = Case::new()
        .filter(scripted("a", &script(&format!("called {READY} - - 5000"))))
        .cluster("called", &["c1"])
        .fault("c1", called(Faults::interrupt(At::Bytes(1), How::Reset)))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(
        seen.said("http_call_response(1, 4, 0, 0, 0)"),
        1,
        "{:?}",
        seen.guests()
    );
    assert_eq!(seen.answers("get_header_map_value 6 :status"), ["2"]);
    assert_eq!(seen.answers("get_header_map_pairs 6"), ["0 nothing"]);
}

#[test]
fn a_call_that_breaks_before_its_head_is_answered_with_503() {
    let seen = Case::new()
        .filter(scripted("a", &script(&format!("called {READY} - - 5000"))))
        .cluster("called", &["c1"])
        .fault(
            "c1",
            called(Faults::interrupt(At::BeforeHeaders, How::Reset)),
        )
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(
        seen.answers("get_header_map_value 6 :status"),
        ["0 \"503\""]
    );
}

#[test]
fn an_answer_may_have_any_status_and_no_body() {
    let seen = Case::new()
        .filter(scripted("a", &script(&format!("called {READY} - - 5000"))))
        .cluster("called", &["c1"])
        .fault(
            "c1",
            called(Faults {
                garbage: Some("HTTP/1.1 204 No Content\r\nx-a: 1\r\nX-A: 2\r\n\r\n".to_owned()),
                ..Faults::default()
            }),
        )
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(
        seen.answers("get_header_map_value 6 :status"),
        ["0 \"204\""]
    );
}

#[test]
fn an_answer_for_a_stream_that_is_gone_comes_all_the_same() {
    let script = format!(
        "
        request_headers @/leave: http_call called {READY} - - 5000
        request_headers @/leave: return 1
        http_call_response: get_header_map_value 6 :status
        http_call_response: set_effective_context $caller
        http_call_response: continue_stream 0"
    );

    let seen = Case::new()
        .filter(scripted("a", &script))
        .cluster("called", &["c1"])
        .fault("c1", called(Faults::delay_ms(200)))
        .run(|client| {
            let mut talk = client.open("GET /leave");
            talk.request("GET", "/leave", &[], b"");
            client.wait_for_worker("c1", 1);
            talk.abort();
            client.wait_for("http_call_response(", 1);
        });

    assert_eq!(
        seen.answers("set_effective_context"),
        ["2"],
        "its context is gone"
    );
    let order = seen.guests();
    let at = |text: &str| order.iter().position(|line| line.contains(text));
    assert!(at("delete(2)") < at("http_call_response("), "{order:?}");
}

#[test]
fn two_calls_of_one_callback_are_answered_one_by_one() {
    let script = format!(
        "
        request_headers: http_call called {READY};x-delay=1 - - 5000
        request_headers: http_call other {READY} - - 5000
        request_headers: return 1
        http_call_response #2: set_effective_context $caller
        http_call_response #2: continue_stream 0"
    );

    let seen = Case::new()
        .filter(scripted("a", &script))
        .cluster("called", &["c1"])
        .cluster("other", &["c2"])
        .fault("c1", called(Faults::delay_ms(150)))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.answers("http_call"), ["0 token 4", "0 token 8"]);
    assert_eq!(
        seen.callbacks("(a)")[3..],
        [
            "http_call_response(1, 8, 4, 3, 0)",
            "http_call_response(1, 4, 4, 3, 0)"
        ]
    );
}

#[test]
fn a_call_runs_through_the_upstream_filters_of_its_cluster() {
    let seen = Case::new()
        .filter(scripted("a", &script(&format!("called {READY};x-a=1 - - 5000"))))
        .cluster("called", &["c1"])
        .attempt(scripted("up", "request_headers: get_header_map_pairs 0\nrequest_headers: add_header_map_value 0 x-key secret\nresponse_headers: get_header_map_pairs 2"))
        .run(|client| drop(client.get("/readyz")));

    assert!(seen.workers().contains(&"  x-key: secret".to_owned()));
    assert_eq!(seen.said("up: log"), 0);
}
