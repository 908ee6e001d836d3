//! What holds a stream back, for how long, and what lets it go.

use blackbox::differential::Case;
use blackbox::plugin::scripted;

/// Asks the worker `c1` and waits; the answer lets the request go on.
const ASKS: &str = "
    request_headers: http_call called :method=GET;:path=/readyz;:authority=c - - 5000
    request_headers: return 1
    http_call_response: set_effective_context $caller
    http_call_response: get_header_map_value 0 :path
    http_call_response: replace_header_map_value 0 x-late 1
    http_call_response: continue_stream 0
    http_call_response: get_header_map_value 0 :path";

#[test]
fn without_the_flag_a_held_head_holds_everything() {
    let seen = Case::new()
        .filter(scripted("a", ASKS))
        .filter(scripted("b", ""))
        .cluster("called", &["c1"])
        .run(|client| drop(client.post("/x", "body")));

    let order = seen.order();
    let at = |what: &str| order.iter().position(|line| line == what);
    assert!(at("a request_body") > at("b request_headers"), "{order:?}");
    assert!(seen.workers().contains(&"  x-late: 1".to_owned()));
    assert_eq!(
        seen.answers("get_header_map_value"),
        ["0 \"/x\"", "2"],
        "gone with the resume"
    );
}

#[test]
fn with_the_flag_a_held_head_holds_until_the_first_piece_of_the_body() {
    let reply = "
        http_call_response: set_effective_context $caller
        http_call_response: send_local_response 401 no";
    let script = ASKS
        .split("http_call_response")
        .next()
        .unwrap_or_default()
        .to_owned()
        + reply;

    let seen = Case::new()
        .filter(scripted("a", &script).with_headers_stop())
        .cluster("called", &["c1"])
        .fault(
            "c1",
            blackbox::Faults {
                path: Some("/readyz".to_owned()),
                delay_before_headers_ms: 300,
                ..Default::default()
            },
        )
        .run(|client| {
            drop(client.get("/readyz"));
            drop(client.post("/x", "body"));
        });

    assert_eq!(seen.statuses(), [401, 404], "a body goes on at once");
}

#[test]
fn a_later_filter_sees_nothing_of_a_request_that_is_held_back() {
    let hold = "
        request_headers: return 1
        request_body more: return 1";

    let seen = Case::new()
        .filter(scripted("a", hold).with_headers_stop())
        .filter(scripted("b", ""))
        .run(|client| drop(client.post("/x", "body")));

    assert_eq!(
        seen.order()[..7],
        [
            "a context_create",
            "a request_headers",
            "a request_body",
            "a request_body",
            "b context_create",
            "b request_headers",
            "b request_body"
        ]
    );
}

#[test]
fn two_filters_hold_a_request_back_one_after_the_other() {
    let seen = Case::new()
        .filter(scripted("a", ASKS))
        .filter(scripted("b", ASKS))
        .cluster("called", &["c1"])
        .run(|client| {
            drop(client.post("/x", "body"));
            drop(client.get("/readyz"));
        });

    assert_eq!(seen.statuses(), [404, 200]);
    assert_eq!(
        seen.answers("http_call"),
        ["0 token 4", "0 token 4", "0 token 8", "0 token 8"]
    );
}

#[test]
fn a_response_can_be_held_back_for_a_callout() {
    let script = "
        response_headers: http_call called :method=GET;:path=/readyz;:authority=c - - 5000
        response_headers: return 1
        http_call_response: set_effective_context $caller
        http_call_response: replace_header_map_value 2 x-late 1
        http_call_response: continue_stream 1
        http_call_response: get_header_map_value 2 :status";

    let seen = Case::new()
        .filter(scripted("a", script))
        .cluster("called", &["c1"])
        .run(|client| drop(client.post("/x", "body")));

    assert!(seen.client().contains(&"  x-late: 1".to_owned()));
    assert_eq!(
        seen.answers("get_header_map_value"),
        ["0 \"404\""],
        "resuming takes no response header away"
    );
}

#[test]
fn a_body_can_be_held_back_for_a_callout() {
    let script = "
        request_body end: http_call called :method=GET;:path=/readyz;:authority=c - - 5000
        request_body: return 1
        http_call_response: set_effective_context $caller
        http_call_response: get_buffer_bytes 0 0 100
        http_call_response: set_buffer_bytes 0 0 4 BODY
        http_call_response: continue_stream 0
        http_call_response: get_buffer_bytes 0 0 100";

    let seen = Case::new()
        .filter(scripted("a", script))
        .cluster("called", &["c1"])
        .run(|client| drop(client.post("/x", "body")));

    assert_eq!(
        seen.answers("get_buffer_bytes"),
        ["0 \"body\"", "0 \"BODY\""],
        "held bytes stay until the stream has gone on"
    );
    assert!(seen.workers().contains(&"  \"BODY\"".to_owned()));
}

#[test]
fn a_body_goes_on_amid_its_pieces() {
    let script = "
        request_body #1: http_call called :method=GET;:path=/readyz;:authority=c - - 5000
        request_body #1: return 1
        http_call_response: set_effective_context $caller
        http_call_response: continue_stream 0";

    let seen = Case::new()
        .filter(scripted("a", script))
        .filter(scripted("b", ""))
        .cluster("called", &["c1"])
        .run(|client| {
            let mut talk = client.open("POST /x");
            talk.send(
                "POST /x HTTP/1.1\r\nhost: g\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n",
            );
            client.wait_for("b: ", 1);
            client.wait_for("request_body(2, 2, 0)", 2);
            talk.send("4\r\ncdef\r\n0\r\n\r\n");
            client.response(&mut talk);
        });

    assert_eq!(
        seen.said("b: request_body(2, 4, 0)"),
        1,
        "{:?}",
        seen.guests()
    );
}

#[test]
fn streams_have_four_numbers() {
    let script = "
        request_headers: continue_stream 2
        request_headers: continue_stream 3
        request_headers: continue_stream 4
        request_headers: close_stream 2
        request_headers: close_stream 3
        request_headers: close_stream 4
        configure: continue_stream 0
        configure: close_stream 0";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.statuses(), [200]);
}

#[test]
fn every_other_answer_of_a_header_callback() {
    let resume = "
        http_call_response: set_effective_context $caller
        http_call_response: continue_stream 0";
    let call = "http_call called :method=GET;:path=/readyz;:authority=c - - 5000";
    let script: String = [2, 3, 4, 5, 77]
        .iter()
        .map(|answer| {
            format!(
                "request_headers @/{answer}: {call}\nrequest_headers @/{answer}: return {answer}\n"
            )
        })
        .collect();

    let seen = Case::new()
        .filter(scripted("a", &(script + resume)).with_headers_stop())
        .filter(scripted("b", ""))
        .cluster("called", &["c1"])
        .fault(
            "c1",
            blackbox::Faults {
                path: Some("/readyz".to_owned()),
                delay_before_headers_ms: 50,
                ..Default::default()
            },
        )
        .run(|client| {
            for answer in [3, 4, 5, 77] {
                drop(client.post(&format!("/{answer}"), "body"));
            }
        });

    assert_eq!(seen.statuses(), [404; 4]);
}

#[test]
fn closing_a_stream_breaks_it_off() {
    let script = "
        request_headers @/request: close_stream 0
        request_body @/body end: close_stream 0
        response_headers @/response: close_stream 1
        response_headers @/late: close_stream 0
        response_body @/broken: close_stream 1
        log: get_property response/code_details
        log: get_property response/flags";

    let seen = Case::new().filter(scripted("a", script)).run(|client| {
        for path in ["/request", "/body", "/response", "/late"] {
            let mut talk = client.open(path);
            talk.request("POST", path, &[], b"body");
            let closed = talk.is_closed();
            client.note(format!("{path} closed: {closed}"));
        }
        drop(client.post("/broken", "body"));
    });

    let details = seen.answers("get_property response/code_details");
    assert_eq!(details[..2], ["0 \"wasm_close_stream\""; 2]);
    assert_eq!(details[2..], ["0 \"via_upstream\""; 3]);
}
