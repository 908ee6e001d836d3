//! Which header maps a guest has at hand, and when.

use blackbox::differential::Case;
use blackbox::plugin::scripted;
use serde_json::json;

#[test]
fn after_continue_the_map_of_request_headers_is_gone() {
    let script = "
        request_headers: get_header_map_value 0 :path
        request_body end: get_header_map_value 0 :path
        request_body end: add_header_map_value 0 x-late 1
        request_body end: replace_header_map_value 0 x-late 1
        request_body end: remove_header_map_value 0 x-late
        request_body end: get_header_map_size 0
        request_body end: set_header_map_pairs 0 x-late=1
        request_body end: get_header_map_pairs 0
        response_headers: get_header_map_value 0 :path";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.post("/x", "body")));

    let all = |step: &str| seen.answers(step).concat();
    assert_eq!(
        seen.answers("get_header_map_value 0 :path"),
        ["0 \"/x\"", "2", "2"]
    );
    assert_eq!(all("add_header_map_value 0 x-late 1"), "2");
    assert_eq!(all("replace_header_map_value 0 x-late 1"), "2");
    assert_eq!(all("remove_header_map_value 0 x-late"), "2");
    assert_eq!(all("get_header_map_size 0"), "2");
    assert_eq!(all("set_header_map_pairs 0 x-late=1"), "2");
    assert_eq!(
        all("get_header_map_pairs 0"),
        "0 nothing",
        "no refusal, but nothing"
    );
}

#[test]
fn all_headers_are_listed_as_they_go_on() {
    let script = "
        request_headers: get_header_map_pairs 0
        response_headers: get_header_map_pairs 2
        response_headers: add_header_map_value 2 x-more 1
        response_headers: get_header_map_pairs 2
        log: get_header_map_pairs 0
        log: get_header_map_pairs 2
        log: get_header_map_value 0 x-none
        log: get_header_map_size 0
        log: get_header_map_value 1 x-none
        log: add_header_map_value 2 x-late 1";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.request("POST", "/x", &["x-One: 1", "x-two: 2"], b"body")));

    assert_eq!(seen.said("x-one: 1"), 2);
}

#[test]
fn a_head_that_is_held_back_can_still_be_changed() {
    let script = "
        request_headers: return 1
        request_body more: return 1
        request_body end: replace_header_map_value 0 x-late now
        request_body end: get_header_map_value 0 :path";

    let seen = Case::new()
        .filter(scripted("a", script).with_headers_stop())
        .run(|client| drop(client.post("/x", "body")));

    assert_eq!(seen.answers("replace_header_map_value"), ["0"]);
    assert_eq!(seen.answers("get_header_map_value"), ["0 \"/x\""]);
    assert!(seen.workers().contains(&"  x-late: now".to_owned()));
}

#[test]
fn a_name_is_found_in_any_case_and_its_first_value_is_given() {
    let script = "
        request_headers: get_header_map_value 0 X-TWO
        request_headers: get_header_map_value 0 x-none
        request_headers: remove_header_map_value 0 x-none
        request_headers: add_header_map_value 0 X-Two c
        request_headers: get_header_map_value 0 x-two
        request_headers: replace_header_map_value 0 X-New %20d%20
        request_headers: replace_header_map_value 0 x-three e
        request_headers: replace_header_map_value 0 x-one f
        request_headers: replace_header_map_value 0 :method GET
        request_headers: replace_header_map_value 0 user-agent g
        request_headers: get_header_map_pairs 0
        response_headers: replace_header_map_value 2 content-type h
        response_headers: replace_header_map_value 2 :status 201
        response_headers: get_header_map_pairs 2";

    let seen = Case::new().filter(scripted("a", script)).run(|client| {
        let headers = [
            "x-one: 0",
            "user-agent: u",
            "x-two: a",
            "X-Two: b",
            "x-three: 1",
            "x-three: 2",
        ];
        drop(client.request("GET", "/readyz", &headers, b""));
    });

    assert_eq!(seen.answers("get_header_map_value 0 X-TWO"), ["0 \"a\""]);
    assert_eq!(seen.answers("get_header_map_value 0 x-none"), ["1"]);
    assert_eq!(seen.answers("remove_header_map_value 0 x-none"), ["0"]);
    assert_eq!(seen.answers("get_header_map_value 0 x-two"), ["0 \"a\""]);
    let three = |line: &&String| line.starts_with("  x-three: ");
    assert_eq!(
        seen.workers().iter().filter(three).count(),
        1,
        "replace leaves one line"
    );
}

#[test]
fn an_empty_value_is_not_an_absent_one() {
    let script = "
        request_headers: replace_header_map_value 0 x-empty -
        request_headers: get_header_map_value 0 x-empty
        request_headers: add_header_map_value 0 x-sent -
        request_headers: get_header_map_value 0 x-sent
        response_headers: add_header_map_value 2 x-empty -";

    let seen = Case::new().filter(scripted("a", script)).run(|client| {
        drop(client.request("GET", "/readyz", &["x-sent:"], b""));
    });

    assert_eq!(seen.answers("get_header_map_value"), ["0 \"\"", "0 \"\""]);
    assert!(seen.client().contains(&"  x-empty: ".to_owned()));
}

#[test]
fn values_are_bytes() {
    let script = "
        request_headers: v = get_header_map_value 0 x-bytes
        request_headers: add_header_map_value 0 x-again $v
        request_headers: replace_header_map_value 0 x-long 30000*a
        response_headers: add_header_map_value 2 x-bytes %80%ff%e4";

    let seen = Case::new().filter(scripted("a", script)).run(|client| {
        let mut bytes = b"GET /readyz HTTP/1.1\r\nhost: g\r\nx-bytes: ".to_vec();
        bytes.extend([0xff, 0xfe, b'a', 0xe4]);
        bytes.extend(b"\r\n\r\n");
        drop(client.send("GET with bytes", &bytes));
    });

    assert_eq!(
        seen.answers("get_header_map_value"),
        ["0 \"\\xff\\xfea\\xe4\""]
    );
    assert!(
        seen.workers()
            .contains(&"  x-again: \\xff\\xfea\\xe4".to_owned())
    );
    assert!(
        seen.client()
            .contains(&"  x-bytes: \\x80\\xff\\xe4".to_owned())
    );
}

#[test]
fn the_size_of_a_map_is_in_bytes() {
    let script = "
        request_headers: get_header_map_size 0
        request_headers: get_header_map_pairs 0
        response_headers: get_header_map_size 2";

    let seen = Case::new()
        .filter(scripted("a", script))
        .shape(|raw| raw.hcm("use_remote_address", json!(false)))
        .run(|client| drop(client.request("GET", "/readyz", &["x: 12345"], b"")));

    // :status, content-type, content-length with their values.
    assert_eq!(seen.answers("get_header_map_size 2").len(), 1);
}

#[test]
fn maps_that_are_not_there_and_numbers_that_are_none() {
    let script = "
        request_headers: get_header_map_value 1 x
        request_headers: get_header_map_value 2 x
        request_headers: get_header_map_value 3 x
        request_headers: get_header_map_value 4 x
        request_headers: get_header_map_value 5 x
        request_headers: get_header_map_value 6 x
        request_headers: get_header_map_value 7 x
        request_headers: get_header_map_value 8 x
        request_headers: get_header_map_pairs 2
        request_headers: get_header_map_pairs 4
        request_headers: get_header_map_pairs 6
        request_headers: get_header_map_pairs 8
        request_headers: get_header_map_size 2
        request_headers: get_header_map_size 6
        request_headers: get_header_map_size 8
        request_headers: add_header_map_value 2 x 1
        request_headers: add_header_map_value 6 x 1
        request_headers: add_header_map_value 8 x 1
        request_headers: replace_header_map_value 1 x 1
        request_headers: remove_header_map_value 1 x
        request_headers: set_header_map_pairs 3 x=1";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.answers("get_header_map_value"), ["2"; 8]);
    assert_eq!(seen.answers("add_header_map_value"), ["2"; 3]);
    assert_eq!(seen.answers("get_header_map_pairs 8"), ["2"]);
    assert_eq!(seen.answers("get_header_map_pairs 2"), ["0 nothing"]);
}

#[test]
fn a_whole_map_can_be_replaced() {
    let script = "
        request_headers @/x: set_header_map_pairs 0 :method=GET;:path=/readyz;:authority=other;:scheme=http;x-forwarded-proto=http;x-a=1;x-a=2;X-B=3
        request_headers @/y: set_header_map_pairs 0 :method=GET;:path=/readyz;:authority=other;:scheme=http
        request_headers: get_header_map_pairs 0
        response_headers @/x: set_header_map_pairs 2 :status=201;content-length=3;x-c=4";

    let seen = Case::new().filter(scripted("a", script)).run(|client| {
        drop(client.get("/x"));
        drop(client.get("/y"));
    });

    assert_eq!(
        seen.statuses(),
        [201, 404],
        "without x-forwarded-proto there is no route"
    );
    assert!(
        seen.workers()[0].ends_with("GET /readyz"),
        "{:?}",
        seen.workers()
    );
}

#[test]
fn after_continue_the_map_of_response_headers_is_gone() {
    let script = "
        response_headers: get_header_map_value 2 :status
        response_body: get_header_map_value 2 :status
        response_body: replace_header_map_value 2 x-late 1
        done: get_header_map_value 2 :status
        done: get_header_map_pairs 2";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/readyz")));

    let answers = seen.answers("get_header_map_value 2 :status");
    assert_eq!(answers[..2], ["0 \"200\"", "2"]);
    assert!(!seen.client().contains(&"  x-late: 1".to_owned()));
}

#[test]
fn asking_to_change_trailers_at_the_end_of_a_body_makes_them() {
    let script = "
        request_body end: get_header_map_pairs 1
        request_body end: add_header_map_value 1 x-t 1
        response_body more: add_header_map_value 3 x-early 1
        response_body end: add_header_map_value 3 x-t 2
        response_body end: get_header_map_value 3 x-t
        response_trailers: get_header_map_pairs 3";

    let seen = Case::new()
        .filter(scripted("a", script))
        .filter(scripted("b", "request_trailers: get_header_map_pairs 1"))
        .run(|client| drop(client.post("/x", "body")));

    assert!(seen.said("request_trailers") > 0, "{:?}", seen.guests());
}

#[test]
fn trailers_can_be_made_for_a_head_that_was_held_back() {
    let script = "
        request_headers: return 1
        request_body more: return 1
        request_body end: add_header_map_value 1 x-t 1
        response_headers: return 1
        response_body more: return 1
        response_body end: replace_header_map_value 3 x-t 2";

    let seen = Case::new()
        .filter(scripted("before", ""))
        .filter(scripted("a", script).with_headers_stop())
        .filter(scripted("b", "request_trailers: get_header_map_pairs 1"))
        .run(|client| drop(client.post("/x", "body")));

    assert_eq!(seen.statuses(), [404]);
    assert!(seen.said("b: request_trailers") > 0, "{:?}", seen.guests());
}

#[test]
fn a_changed_header_makes_envoy_look_at_the_route_again() {
    let script = "
        request_headers @/b: replace_header_map_value 0 x-to b
        request_headers @/c: replace_header_map_value 0 :path /other
        response_headers: get_property xds/route_name";
    let routes = json!([
        {"name": "b", "match": {"prefix": "/", "headers": [{"name": "x-to", "string_match": {"exact": "b"}}]}, "direct_response": {"status": 202}},
        {"name": "other", "match": {"prefix": "/other"}, "direct_response": {"status": 203}},
        {"name": "rest", "match": {"prefix": "/"}, "direct_response": {"status": 204}}]);

    let seen = Case::new()
        .filter(scripted("a", script))
        .shape(move |raw| raw.virtual_host("routes", routes.clone()))
        .run(|client| {
            for path in ["/a", "/b", "/c"] {
                drop(client.get(path));
            }
        });

    assert_eq!(seen.statuses(), [204, 202, 203]);
}
