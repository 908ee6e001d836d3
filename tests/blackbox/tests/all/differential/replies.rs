//! Answers of a guest's own.

use blackbox::differential::Case;
use blackbox::plugin::scripted;
use blackbox::{At, Faults, How};
use serde_json::json;

#[test]
fn a_reply_goes_through_the_filters_that_saw_the_request() {
    let script = "
        request_headers @/headers: send_local_response 401 no x-mine=1 some%20details
        request_body @/body end: send_local_response 402 no
        response_headers: get_property response/code_details
        response_headers: get_header_map_pairs 2";

    let seen = Case::new()
        .filter(scripted("a", ""))
        .filter(scripted("b", script))
        .filter(scripted("c", ""))
        .run(|client| {
            drop(client.post("/headers", "body"));
            drop(client.post("/body", "body"));
        });

    assert_eq!(seen.statuses(), [401, 402]);
    assert_eq!(
        seen.answers("get_property"),
        ["0 \"some_details\"", "0 \"\""]
    );
    let order: Vec<_> = seen
        .order()
        .into_iter()
        .filter(|line| !line.contains("context_create"))
        .collect();
    assert_eq!(
        order[..8],
        [
            "a request_headers",
            "b request_headers",
            "b response_headers",
            "a response_headers",
            "b response_body",
            "a response_body",
            "a log",
            "b log"
        ]
    );
}

#[test]
fn a_reply_stops_the_request_whatever_the_callback_answers() {
    let script = "
        request_headers @/headers: send_local_response 401 no
        request_headers @/headers: return 0
        request_body @/body: send_local_response 402 no
        request_body @/body: return 0";

    let seen = Case::new()
        .filter(scripted("a", script))
        .filter(scripted("b", ""))
        .run(|client| {
            drop(client.post("/headers", "body"));
            drop(client.post("/body", "body"));
        });

    assert_eq!(seen.statuses(), [401, 402]);
    assert!(seen.workers().is_empty() || seen.said("b: request_body") == 0);
}

#[test]
fn a_reply_to_a_response_in_hand_passes_no_filters() {
    let script = "
        response_headers @/headers: send_local_response 501 no
        response_body @/body: send_local_response 502 no
        response_headers @/body: return 1
        log: get_property response/code_details";

    let seen = Case::new()
        .filter(scripted("a", ""))
        .filter(scripted("b", script).with_headers_stop())
        .filter(scripted("c", ""))
        .run(|client| {
            drop(client.post("/headers", "body"));
            drop(client.post("/body", "body"));
        });

    assert_eq!(seen.statuses(), [501, 502]);
    assert_eq!(seen.said("a: response_headers"), 0);
}

#[test]
fn a_reply_to_a_response_that_has_begun_breaks_it_off() {
    let script = "
        response_body: send_local_response 501 no
        log: get_property response/code_details
        log: get_property response/flags";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.post("/x", "body")));

    assert_eq!(seen.statuses(), [404]);
    assert_eq!(seen.responses[0].body, b"");
}

#[test]
fn envoy_adds_what_a_reply_lacks() {
    let script = "
        request_headers @/empty: send_local_response 401
        request_headers @/text: send_local_response 401 no
        request_headers @/typed: send_local_response 401 {} content-type=application/json;x-a=1;x-a=2
        request_headers @/length: send_local_response 401 no content-length=7
        request_headers @/status: send_local_response 401 no :status=200
        request_headers @/date: send_local_response 401 no date=yesterday;server=mine;x-request-id=mine
        request_headers @/204: send_local_response 204 no
        request_headers @/304: send_local_response 304 no
        request_headers @/999: send_local_response 599 no
        response_headers: get_header_map_pairs 2";

    let seen = Case::new().filter(scripted("a", script)).run(|client| {
        for path in [
            "/empty", "/text", "/typed", "/length", "/status", "/date", "/204", "/304", "/999",
        ] {
            let mut talk = client.open(path);
            talk.request("GET", path, &["connection: close"], b"");
            client.response(&mut talk);
        }
    });

    assert_eq!(
        seen.said("content-type: text/plain"),
        7,
        "{:?}",
        seen.guests()
    );
}

#[test]
fn a_reply_of_a_callout_ends_the_waiting_request() {
    let script = "
        request_headers: http_call called :method=GET;:path=/readyz;:authority=c - - 5000
        request_headers: return 1
        http_call_response: send_local_response 500 nobody
        http_call_response: set_effective_context $caller
        http_call_response: send_local_response 403 no
        http_call_response: get_header_map_value 0 :path";

    let seen = Case::new()
        .filter(scripted("a", script))
        .cluster("called", &["c1"])
        .run(|client| drop(client.post("/x", "body")));

    assert_eq!(
        seen.statuses(),
        [403],
        "that of the root context is for nobody"
    );
    assert_eq!(seen.answers("send_local_response"), ["0", "0"]);
}

#[test]
fn a_root_context_has_nobody_to_answer() {
    let script = "
        configure: send_local_response 500 nobody
        configure: continue_stream 0
        configure: close_stream 0";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.statuses(), [200]);
    assert_eq!(seen.answers("send_local_response"), ["0"]);
}

#[test]
fn of_two_replies_the_first_counts() {
    let script = "
        request_headers: send_local_response 401 first
        request_headers: send_local_response 402 second";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.statuses(), [401]);
}

#[test]
fn a_grpc_request_is_answered_in_trailers() {
    let script = "
        request_headers @/plain: send_local_response 401 no%20way
        request_headers @/status: send_local_response 200 no%20way - - 7
        request_headers @/odd: send_local_response 503 no%20way x-a=1 - 77
        response_headers: get_header_map_pairs 2";

    let seen = Case::new().filter(scripted("a", script)).run(|client| {
        for path in ["/plain", "/status", "/odd"] {
            drop(client.request("POST", path, &["content-type: application/grpc"], b"x"));
        }
    });

    assert_eq!(seen.statuses(), [200; 3]);
    assert_eq!(seen.said("grpc-status: 7"), 1);
}

#[test]
fn a_filter_edits_the_answers_that_envoy_gives_itself() {
    let script = "
        response_headers: get_property response/code_details
        response_headers: remove_header_map_value 2 content-length
        response_headers: replace_header_map_value 2 x-edited 1
        response_body end: set_buffer_bytes 1 0 1000 edited";
    let routes = json!([
        {"match": {"prefix": "/direct"}, "direct_response": {"status": 410, "body": {"inline_string": "gone"}}},
        {"match": {"prefix": "/refused"}, "route": {"cluster": "workers"}}]);

    let seen = Case::new()
        .filter(scripted("a", script))
        .filter(scripted("b", ""))
        .shape(move |raw| raw.virtual_host("routes", routes.clone()))
        .run(|client| {
            client.world().worker("w1").refuse();
            for path in ["/direct", "/refused", "/nowhere"] {
                drop(client.get(path));
            }
        });

    assert_eq!(seen.statuses(), [410, 503, 404]);
    assert_eq!(seen.responses[1].text(), "edited");
}

#[test]
fn requests_that_are_none_reach_filters_only_for_the_log() {
    let script = "
        log: get_property response/code_details
        log: get_header_map_pairs 0
        log: get_header_map_value 0 :path
        log: get_header_map_pairs 2";

    let seen = Case::new().filter(scripted("a", script)).run(|client| {
        drop(client.send("no host", b"GET / HTTP/1.1\r\n\r\n"));
        drop(client.send("no HTTP", b"what?\r\n\r\n"));
    });

    assert_eq!(seen.statuses(), [400, 400]);
    assert_eq!(
        seen.callbacks("a")[..4],
        ["context_create(2, 1)", "log(2)", "done(2)", "delete(2)"]
    );
}

#[test]
fn a_response_that_breaks_off_ends_with_the_log() {
    let seen = Case::new()
        .filter(scripted(
            "a",
            "log: get_property response/code_details\nlog: get_property response/flags",
        ))
        .fault("w1", Faults::interrupt(At::Bytes(3), How::Reset))
        .run(|client| drop(client.post("/x", "body")));

    assert_eq!(seen.statuses(), [404]);
    assert_eq!(
        seen.said("response_body(2, 0, 1)"),
        0,
        "its end never comes"
    );
}

#[test]
fn a_client_that_leaves_ends_everything() {
    let script = "
        log: get_property response/code_details
        log: get_property response/flags
        response_headers @/paused: return 1";

    let seen = Case::new()
        .filter(scripted("a", "request_headers @/waiting: return 1"))
        .filter(scripted("b", script))
        .fault("w1", Faults::interrupt(At::BeforeHeaders, How::Hold))
        .run(|client| {
            for path in ["/waiting", "/worker"] {
                let mut talk = client.open(path);
                talk.request("POST", path, &[], b"body");
                match path {
                    "/waiting" => client.wait_for("request_headers(", 1),
                    _ => client.wait_for_worker("w1", 1),
                }
                talk.abort();
                client.wait_for("delete(", if path == "/waiting" { 1 } else { 3 });
            }
        });

    assert!(
        seen.answers("get_property response/code_details")
            .iter()
            .all(|answer| *answer == "0 \"downstream_remote_disconnect\"")
    );
}
