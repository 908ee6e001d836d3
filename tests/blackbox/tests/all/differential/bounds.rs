//! How many headers there may be, how long, and what may stand in them.

use blackbox::differential::{Case, Seen};
use blackbox::plugin::scripted;
use serde_json::{Value, json};

/// A head that goes to a worker and is answered.
const HEAD: &str = ":method=GET;:path=/readyz;:authority=other;:scheme=http;x-forwarded-proto=http";

#[test]
fn a_list_of_a_guest_has_1024_pairs_and_a_mebibyte_at_most() {
    let script = format!(
        "
        request_headers @/1024: set_header_map_pairs 0 {HEAD};1019#x=1
        request_headers @/1025: set_header_map_pairs 0 {HEAD};1020#x=1
        request_headers @/large: set_header_map_pairs 0 {HEAD};x=1048300*a
        request_headers @/larger: set_header_map_pairs 0 {HEAD};x=1048500*a
        request_headers: get_header_map_size 0
        request_headers: get_header_map_value 0 :path"
    );

    let seen = Case::new().filter(scripted("a", &script)).run(|client| {
        for path in ["/1024", "/1025", "/large", "/larger"] {
            client.get(path);
        }
    });

    assert_eq!(seen.answers("set_header_map_pairs"), ["0"; 4]);
    assert_eq!(
        seen.answers("get_header_map_value 0 :path"),
        ["0 \"/readyz\"", "1", "0 \"/readyz\"", "1"],
        "a longer list is an empty one"
    );
}

#[test]
fn a_guest_is_handed_any_number_of_headers() {
    let script = format!(
        "
        request_headers @/many: set_header_map_pairs 0 {HEAD};1019#x=1
        request_headers @/many: add_header_map_value 0 y 1
        request_headers @/many: get_header_map_pairs 0
        request_headers @/long: add_header_map_value 0 y 1040000*a
        request_headers @/long: add_header_map_value 0 z 1040000*a
        request_headers @/long: get_header_map_pairs 0
        request_headers @/long: get_header_map_size 0
        request_headers: send_local_response 401 no"
    );

    let seen = Case::new().filter(scripted("a", &script)).run(|client| {
        client.get("/many");
        client.get("/long");
    });

    let lists = seen.answers("get_header_map_pairs 0");
    assert!(lists[0].starts_with("0 1025 {"), "{}", lists[0].len());
    assert!(lists[1].contains("... 1040000 bytes"), "{}", lists[1].len());
}

#[test]
fn a_response_without_a_status_becomes_502() {
    let script = "
        response_headers @/1024: set_header_map_pairs 2 :status=200;1023#x=1
        response_headers @/1025: set_header_map_pairs 2 :status=200;1024#x=1
        response_headers @/removed: remove_header_map_value 2 :status
        response_headers @/odd: replace_header_map_value 2 :status abc";

    let seen = Case::new()
        .filter(scripted("before", ""))
        .filter(scripted("a", script))
        .run(|client| {
            for path in ["/1024", "/1025", "/removed", "/odd"] {
                client.get(path);
            }
        });

    assert_eq!(seen.statuses(), [200, 502, 502, 502]);
    assert_eq!(seen.responses[2].text(), "missing required header: :status");
    assert_eq!(
        seen.said("before: response_body"),
        2,
        "only the first has one"
    );
}

/// Requests whose head is longer and longer, to a listener with these fields.
fn with_heads(fields: &'static [(&str, u32)], heads: &[(&str, String)]) -> Seen {
    let script = "
        request_headers: get_header_map_size 0
        log: get_property response/code_details";
    Case::new()
        .filter(scripted("a", script))
        .shape(move |raw| {
            fields.iter().fold(raw, |raw, (name, value)| match *name {
                "max_headers_count" => {
                    raw.hcm("common_http_protocol_options", json!({*name: value}))
                }
                name => raw.hcm(name, json!(value)),
            })
        })
        .run(|client| {
            for (name, lines) in heads {
                let request =
                    format!("GET /readyz HTTP/1.1\r\nhost: g\r\nconnection: close\r\n{lines}\r\n");
                client.send(name, request.as_bytes());
            }
        })
}

fn lines(count: usize) -> String {
    "x: 1\r\n".repeat(count)
}

fn long(bytes: usize) -> String {
    format!("x: {}\r\n", "a".repeat(bytes))
}

#[test]
fn a_client_sends_100_lines_and_60_kibibytes_at_most() {
    let seen = with_heads(
        &[],
        &[
            ("100 lines", lines(98)),
            ("101 lines", lines(99)),
            ("61,000 bytes", long(61_000)),
            ("62,000 bytes", long(62_000)),
            ("a long name", format!("{}: 1\r\n", "a".repeat(61_500))),
        ],
    );

    assert_eq!(seen.statuses(), [200, 431, 200, 431, 431]);
    let details: Vec<_> = seen
        .answers("get_property")
        .into_iter()
        .filter(|details| details.contains("http1"))
        .collect();
    assert_eq!(
        details,
        [
            "0 \"http1.too_many_headers\"",
            "0 \"http1.headers_too_large\"",
            "0 \"http1.headers_too_large\""
        ]
    );
}

#[test]
fn a_listener_says_how_much_a_client_may_send() {
    let seen = with_heads(
        &[("max_headers_count", 200), ("max_request_headers_kb", 96)],
        &[
            ("200 lines", lines(198)),
            ("201 lines", lines(199)),
            ("90,000 bytes", long(90_000)),
            ("99,000 bytes", long(99_000)),
        ],
    );

    assert_eq!(seen.statuses(), [200, 431, 200, 431]);
}

/// What becomes of a response with these header lines, in a cluster with these common options.
fn answered(lines: &str, options: Value) -> u16 {
    let name = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
    let protocol = json!({"typed_extension_protocol_options": {name: {
        "@type": format!("type.googleapis.com/{name}"),
        "common_http_protocol_options": options,
        "explicit_http_config": {"http_protocol_options": {}}}}});
    let seen = Case::new()
        .filter(scripted("a", "log: get_property response/code_details"))
        .answers(
            "w1",
            &format!("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n{lines}\r\nok"),
        )
        .shape(move |raw| raw.cluster_fields("workers", protocol.clone()))
        .run(|client| drop(client.post("/x", "x")));
    seen.statuses()[0]
}

#[test]
fn a_worker_sends_100_lines_and_80_kibibytes_at_most() {
    let statuses = [lines(99), lines(100), long(81_800), long(82_000)]
        .map(|lines| answered(&lines, json!({})));

    assert_eq!(statuses, [200, 502, 200, 502]);
}

#[test]
fn a_cluster_says_how_much_a_worker_may_send() {
    let options = json!({"max_headers_count": 200, "max_response_headers_kb": 96});
    let statuses = [lines(199), lines(200), long(98_000), long(99_000)]
        .map(|lines| answered(&lines, options.clone()));

    assert_eq!(statuses, [200, 502, 200, 502]);
}

/// What the client is told when a filter does this to the request's head.
fn told(steps: &[&str]) -> Vec<String> {
    let script: String = (steps.iter().enumerate())
        .map(|(index, step)| format!("request_headers @/{index}: {step}\n"))
        .collect();
    let script = script + "log: get_property response/code_details";
    let seen = Case::new()
        .filter(scripted("before", ""))
        .filter(scripted("a", &script))
        .run(|client| {
            for index in 0..steps.len() {
                client.post(&format!("/{index}"), "body");
            }
        });
    let text = |response: &blackbox::Response| format!("{} {}", response.status, response.text());
    seen.responses.iter().map(text).collect()
}

#[test]
fn a_head_that_cannot_be_written_is_answered_with_503() {
    let told = told(&[
        "add_header_map_value 0 b%20ad 1",
        "add_header_map_value 0 b:ad 1",
        "add_header_map_value 0 b%0aad 1",
        "add_header_map_value 0 b%00%09%22%5cad 1",
        "add_header_map_value 0 bad a%0d%0aevil:%201",
        "add_header_map_value 0 bad a%00b",
        "add_header_map_value 0 bad a%7fb",
        "replace_header_map_value 0 :path /a%0d%0ab",
        "remove_header_map_value 0 :method",
    ]);

    assert_eq!(
        told,
        [
            "503 invalid header name: b ad",
            "503 invalid header name: b:ad",
            "503 invalid header name: b\\nad",
            "503 invalid header name: b\\u0000\\t\\\"\\\\ad",
            "503 invalid header value for: bad",
            "503 invalid header value for: bad",
            "503 invalid header value for: bad",
            "503 invalid header value for: :path",
            "503 missing required header: :method",
        ]
    );
}

#[test]
fn other_odd_heads_are_written_as_they_are() {
    let told = told(&[
        "add_header_map_value 0 - 1",
        "add_header_map_value 0 :other 1",
        "add_header_map_value 0 x %20a%20",
        "replace_header_map_value 0 :path /a%20b",
        "replace_header_map_value 0 :method G%20T",
        "remove_header_map_value 0 :path",
        "remove_header_map_value 0 :authority",
        "remove_header_map_value 0 :scheme",
    ]);

    assert!(told[0].starts_with("400"), "the worker's answer: {told:?}");
    assert!(told[5].starts_with("404"), "no route: {told:?}");
}

#[test]
fn a_head_that_cannot_be_written_is_not_tried_again() {
    let seen = Case::new()
        .attempt(scripted("up", "request_headers: add_header_map_value 0 b%20ad 1"))
        .route(json!({"cluster": "workers", "retry_policy": {"retry_on": "5xx,reset", "num_retries": 2}}))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.statuses(), [503]);
    assert_eq!(seen.said("up: request_headers("), 1);
}

#[test]
fn a_value_of_a_response_can_end_its_line() {
    let script = "
        response_headers @/line: add_header_map_value 2 bad a%0d%0aevil:%201
        response_headers @/nul: add_header_map_value 2 bad a%00b
        response_headers @/name: add_header_map_value 2 b%20ad 1
        response_headers @/99: replace_header_map_value 2 :status 99
        response_headers @/103: replace_header_map_value 2 :status 103";

    let seen = Case::new().filter(scripted("a", script)).run(|client| {
        for path in ["/line", "/nul", "/name", "/99", "/103"] {
            let request = format!("GET {path} HTTP/1.1\r\nhost: g\r\nconnection: close\r\n\r\n");
            client.everything(path, request.as_bytes());
        }
    });

    assert!(seen.client().contains(&"  evil: 1".to_owned()));
}

/// What becomes of a callout with these pairs and this body: its status, and the answer's.
fn called(pairs: &str, body: &str) -> String {
    let script = format!(
        "
        request_headers: http_call called {pairs} {body} - 5000
        request_headers: return 1
        http_call_response: get_header_map_value 6 :status
        http_call_response: get_buffer_bytes 4 0 300
        http_call_response: set_effective_context $caller
        http_call_response: continue_stream 0"
    );
    let seen = Case::new()
        .filter(scripted("a", &script))
        .cluster("called", &["c1"])
        .run(|client| drop(client.get("/readyz")));
    let status = seen.answers("get_header_map_value 6").concat();
    let body = seen.answers("get_buffer_bytes 4").concat();
    let token = seen.answers("http_call called").concat();
    format!("{token} {status} {body}")
}

/// A head that a callout needs.
const CALL: &str = ":method=POST;:path=/readyz;:authority=c";

#[test]
fn a_callout_has_1024_headers_and_a_mebibyte_at_most() {
    let many = called(&format!("{CALL};1021#x=1"), "-");
    assert!(many.starts_with("0 token 4 0 \"404\""), "{many}");
    let large = called(&format!("{CALL};x=1000000*a"), "-");
    assert!(large.starts_with("0 token 4 0 \"404\""), "{large}");

    let script = format!(
        "
        request_headers: http_call called {CALL};1022#x=1 - - 5000
        request_headers: http_call called {CALL};x=1048570*a - - 5000"
    );
    let seen = Case::new()
        .filter(scripted("a", &script))
        .cluster("called", &["c1"])
        .run(|client| drop(client.get("/readyz")));
    assert_eq!(
        seen.answers("http_call"),
        ["2", "2"],
        "an empty list has no :method"
    );
}

#[test]
fn the_body_of_a_callout_has_no_bound() {
    let answer = called(CALL, "33000000*a");
    assert!(answer.starts_with("0 token 4 0 \"404\""), "{answer}");
}

#[test]
fn a_callout_whose_head_cannot_be_written_is_answered_with_503() {
    let name = called(&format!("{CALL};b%20ad=1"), "-");
    assert_eq!(name, "0 token 4 0 \"503\" 0 \"invalid header name: b ad\"");
    let value = called(&format!("{CALL};bad=a%0d%0ab"), "-");
    assert_eq!(
        value,
        "0 token 4 0 \"503\" 0 \"invalid header value for: bad\""
    );
}

#[test]
fn other_odd_callouts_are_sent_as_they_are() {
    for pairs in [
        &format!("{CALL};=1"),
        ":method=G%20T;:path=/readyz;:authority=c",
        ":method=GET;:path=/a%20b;:authority=c",
        ":method=-;:path=-;:authority=-",
    ] {
        let answer = called(pairs, "-");
        assert!(answer.starts_with("0 token 4 0"), "{pairs}: {answer}");
    }
}
