//! Which header maps a guest has at hand, and when.

use blackbox::differential::Case;
use blackbox::plugin::scripted;

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
        log: get_header_map_value 1 x-none
        log: add_header_map_value 2 x-late 1";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.request("POST", "/x", &["x-One: 1", "x-two: 2"], b"body")));

    assert_eq!(seen.said("x-one: 1"), 2);
}
