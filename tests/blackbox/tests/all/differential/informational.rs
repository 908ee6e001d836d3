//! Answers before the answer, and clients that wait for one.

use blackbox::differential::{Case, Seen};
use blackbox::plugin::scripted;

/// Says the heads it sees.
const SCRIPT: &str = "
    request_headers: get_header_map_value 0 expect
    response_headers: get_header_map_pairs 2
    log: get_property response/code_details
    log: get_header_map_pairs 2";

/// A worker says this in front of its answer.
fn worker_says(first: &str) -> Seen {
    let answer = format!("{first}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    Case::new()
        .filter(scripted("a", SCRIPT))
        .attempt(scripted("up", SCRIPT))
        .answers("w1", &answer)
        .run(|client| {
            client.everything(
                first,
                b"POST / HTTP/1.1\r\nhost: g\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx",
            );
        })
}

#[test]
fn neither_filters_nor_clients_learn_of_answers_before_the_answer() {
    for first in [
        "HTTP/1.1 100 Continue\r\nx-a: 1\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 102 Processing\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n",
        "HTTP/1.1 104 Odd\r\n\r\n",
    ] {
        let seen = worker_says(first);

        assert_eq!(seen.said("response_headers("), 2, "once for each filter");
        assert!(seen.client()[1].contains("200 OK"), "{:?}", seen.client());
    }
}

#[test]
fn another_protocol_that_nobody_asked_for_is_an_answer_without_a_body() {
    for first in [
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    ] {
        let seen = worker_says(first);

        assert_eq!(seen.said("a: response_body(2, 0, 1)"), 1);
        assert!(seen.client()[1].contains("101 Switching Protocols"));
        assert!(seen.workers().iter().all(|line| !line.contains("upgrade")));
    }
}

#[test]
fn a_status_below_100_is_one() {
    let seen = worker_says("HTTP/1.1 099 Odd\r\n\r\n");

    assert!(
        seen.client()[1].contains("HTTP/1.1 99"),
        "{:?}",
        seen.client()
    );
}

#[test]
fn a_callout_does_not_hear_of_answers_before_the_answer() {
    let script = "
        request_headers: http_call called :method=POST;:path=/;:authority=c;expect=100-continue x - 5000
        request_headers: return 1
        http_call_response: get_header_map_value 6 :status
        http_call_response: get_buffer_bytes 4 0 100
        http_call_response: set_effective_context $caller
        http_call_response: continue_stream 0";

    let seen = Case::new()
        .filter(scripted("a", script))
        .cluster("called", &["c1"])
        .answers(
            "c1",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
        )
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.answers("get_header_map_value"), ["0 \"200\""]);
}

/// A client that expects this, with a filter that does that.
fn client_expects(value: &str, script: &str) -> Seen {
    let request = format!(
        "POST /x HTTP/1.1\r\nhost: g\r\nexpect: {value}\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx"
    );
    Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.everything(value, request.as_bytes())))
}

#[test]
fn a_client_that_waits_is_told_to_go_on_before_any_filter() {
    for value in ["100-continue", "100-Continue"] {
        let seen = client_expects(value, SCRIPT);
        assert!(seen.client()[1].contains("100 Continue"));
        assert_eq!(seen.answers("get_header_map_value 0 expect"), ["1"]);
    }
    let refused = "request_headers: send_local_response 401 no";
    let seen = client_expects("100-continue", refused);
    assert!(
        seen.client()[1].contains("100 Continue"),
        "also when it is refused"
    );
}

#[test]
fn what_else_a_client_expects_goes_on_to_the_worker() {
    for value in ["100-continue, x", "something"] {
        let seen = client_expects(value, SCRIPT);
        assert!(seen.client()[1].contains("404"), "{:?}", seen.client());
        assert!(seen.workers().contains(&format!("  expect: {value}")));
    }
}

#[test]
fn a_client_may_wait_without_a_body_and_before_it_is_refused() {
    let seen = Case::new().filter(scripted("a", SCRIPT)).run(|client| {
        for (name, request) in [
            ("no body", "GET /readyz HTTP/1.1\r\nhost: g\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n"),
            ("no host", "POST /readyz HTTP/1.1\r\nexpect: 100-continue\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx"),
            ("old", "POST /readyz HTTP/1.0\r\nhost: g\r\nexpect: 100-continue\r\ncontent-length: 1\r\n\r\nx"),
        ] {
            client.everything(name, request.as_bytes());
        }
    });

    assert!(
        seen.client()[1].contains("100 Continue"),
        "{:?}",
        seen.client()
    );
}

#[test]
fn a_log_sees_that_the_connection_ends() {
    let seen = Case::new().filter(scripted("a", SCRIPT)).run(|client| {
        drop(client.request("GET", "/readyz", &["connection: close"], b""));
        drop(client.get("/readyz"));
    });

    let logged = seen.said("connection: close");
    assert_eq!(logged, 1, "in the map of the first request's log");
}
