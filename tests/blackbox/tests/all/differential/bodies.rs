//! What body callbacks get, and what becomes of a body.

use blackbox::differential::{Case, Client};
use blackbox::plugin::scripted;
use blackbox::{At, Faults, How};
use serde_json::json;

/// A body in two pieces, the second sent when the first has been seen.
fn two_pieces(client: &mut Client<'_>) {
    let mut talk = client.open("POST /x");
    talk.send("POST /x HTTP/1.1\r\nhost: g\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n");
    client.wait_for("request_body(", 1);
    talk.send("4\r\ncdef\r\n0\r\n\r\n");
    client.response(&mut talk);
}

#[test]
fn a_filter_that_continues_gets_each_piece_by_itself() {
    let seen = Case::new()
        .filter(scripted("a", "request_body: get_buffer_bytes 0 0 100"))
        .run(two_pieces);

    assert_eq!(
        seen.answers("get_buffer_bytes"),
        ["0 \"ab\"", "0 \"cdef\"", "0 \"\""]
    );
    assert_eq!(seen.said("request_body(2, 2, 0)"), 1);
    assert_eq!(seen.said("request_body(2, 4, 0)"), 1);
}

#[test]
fn a_filter_that_pauses_gets_all_there_is_so_far() {
    let script = "
        request_headers: return 1
        request_body: get_buffer_bytes 0 0 100
        request_body: get_buffer_status 0
        request_body more: return 1";

    let seen = Case::new()
        .filter(scripted("a", script).with_headers_stop())
        .filter(scripted("b", ""))
        .run(two_pieces);

    assert_eq!(
        seen.answers("get_buffer_bytes"),
        ["0 \"ab\"", "0 \"abcdef\"", "0 \"abcdef\""]
    );
    assert_eq!(
        seen.said("b: request_body(2, 6, 1)"),
        1,
        "one piece for the next"
    );
}

#[test]
fn pausing_after_continuing_counts_from_there() {
    let script = "
        request_body #2: return 1
        request_body: get_buffer_bytes 0 0 100";

    let seen = Case::new().filter(scripted("a", script)).run(two_pieces);

    assert_eq!(
        seen.answers("get_buffer_bytes"),
        ["0 \"ab\"", "0 \"cdef\"", "0 \"cdef\""]
    );
}

#[test]
fn the_other_answers_of_a_body_callback() {
    let script = "
        request_headers: remove_header_map_value 0 content-length
        request_body @/2 more: return 2
        request_body @/3 more: return 3
        request_body @/4 more: return 4
        request_body: get_buffer_bytes 0 0 100";

    let seen = Case::new().filter(scripted("a", script)).run(|client| {
        for path in ["/2", "/3", "/4"] {
            drop(client.post(path, "body"));
        }
    });

    assert_eq!(seen.statuses(), [404; 3]);
}

#[test]
fn any_part_of_a_buffer_can_be_asked_for() {
    let script = "
        request_body more: get_buffer_bytes 0 0 2
        request_body more: get_buffer_bytes 0 2 100
        request_body more: get_buffer_bytes 0 4 1
        request_body more: get_buffer_bytes 0 5 1
        request_body more: get_buffer_bytes 0 0 0
        request_body more: get_buffer_bytes 0 0 4294967295
        request_body more: get_buffer_bytes 0 1 4294967295
        request_body more: get_buffer_bytes 0 4294967295 1
        request_body more: get_buffer_bytes 0 4294967295 4294967295";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.post("/x", "body")));

    let answers = seen.answers("get_buffer_bytes");
    assert_eq!(
        answers[..6],
        [
            "0 \"bo\"",
            "0 \"dy\"",
            "0 \"\"",
            "0 \"\"",
            "0 \"\"",
            "0 \"body\""
        ]
    );
    assert_eq!(answers[6..], ["0 \"ody\"", "0 \"\"", "0 \"\""]);
}

#[test]
fn a_body_can_be_prepended_appended_cut_and_replaced_but_not_in_its_middle() {
    let script = "
        request_headers: remove_header_map_value 0 content-length
        request_body @/prepend more: set_buffer_bytes 0 0 0 new
        request_body @/append more: set_buffer_bytes 0 4 0 new
        request_body @/behind more: set_buffer_bytes 0 100 5 new
        request_body @/cut more: set_buffer_bytes 0 0 2 new
        request_body @/whole more: set_buffer_bytes 0 0 4294967295 new
        request_body @/empty more: set_buffer_bytes 0 0 4 -
        request_body @/middle more: set_buffer_bytes 0 1 2 new
        request_body more: get_buffer_bytes 0 0 100";

    let seen = Case::new().filter(scripted("a", script)).run(|client| {
        for path in [
            "/prepend", "/append", "/behind", "/cut", "/whole", "/empty", "/middle",
        ] {
            drop(client.post(path, "body"));
        }
    });

    assert_eq!(
        seen.answers("set_buffer_bytes"),
        ["0", "0", "0", "0", "0", "0", "2"]
    );
    assert_eq!(
        seen.answers("get_buffer_bytes"),
        [
            "0 \"newbody\"",
            "0 \"bodynew\"",
            "0 \"bodynew\"",
            "0 \"newdy\"",
            "0 \"new\"",
            "0 \"\"",
            "0 \"body\""
        ]
    );
}

#[test]
fn a_body_cannot_be_made_where_there_is_none() {
    let script = "
        request_headers: get_buffer_bytes 0 0 10
        request_headers: get_buffer_status 0
        request_headers: set_buffer_bytes 0 0 0 new
        response_headers: get_buffer_bytes 1 0 10
        response_headers: set_buffer_bytes 1 0 0 new
        response_headers: set_buffer_bytes 0 0 0 new
        log: get_buffer_bytes 1 0 10
        log: set_buffer_bytes 1 0 0 new";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.answers("set_buffer_bytes"), ["2"; 4]);
    assert_eq!(seen.answers("get_buffer_bytes"), ["0 \"\""; 3]);
}

#[test]
fn buffers_that_are_not_there_and_numbers_that_are_none() {
    let script = "
        configure: get_buffer_bytes 7 0 10
        configure: get_buffer_status 7
        request_headers: get_buffer_bytes 8 0 10
        request_headers: get_buffer_bytes 2 0 10
        request_headers: get_buffer_bytes 3 0 10
        request_headers: get_buffer_bytes 4 0 10
        request_headers: get_buffer_bytes 5 0 10
        request_headers: get_buffer_bytes 6 0 10
        request_headers: get_buffer_bytes 7 0 10
        request_headers: get_buffer_bytes 9 0 10
        request_headers: get_buffer_status 2
        request_headers: get_buffer_status 4
        request_headers: get_buffer_status 6
        request_headers: get_buffer_status 7
        request_headers: get_buffer_status 9
        request_headers: set_buffer_bytes 2 0 0 x
        request_headers: set_buffer_bytes 4 0 0 x
        request_headers: set_buffer_bytes 6 0 0 x
        request_headers: set_buffer_bytes 9 0 0 x";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(
        seen.answers("get_buffer_bytes 7"),
        ["0 \"\\n        c\"", "1"]
    );
    assert_eq!(seen.answers("get_buffer_bytes 9"), ["2"]);
}

#[test]
fn a_response_is_edited_piece_by_piece() {
    let script = "
        response_headers: remove_header_map_value 2 content-length
        response_body #1: set_buffer_bytes 1 0 100 one,
        response_body #2: set_buffer_bytes 1 0 100 -
        response_body end: set_buffer_bytes 1 0 0 last";

    let seen = Case::new()
        .filter(scripted("a", script))
        .filter(scripted("b", ""))
        .fault("w1", in_two_pieces("abcdef"))
        .run(|client| {
            let mut talk = client.open("POST /x");
            talk.send("POST /x HTTP/1.1\r\nhost: g\r\ncontent-length: 0\r\n\r\n");
            client.wait_for("response_body(", 2);
            client.world().worker("w1").release();
            client.response(&mut talk);
        });

    assert!(
        seen.client()
            .iter()
            .any(|line| line.ends_with("\"one,last\"")),
        "{:?}",
        seen.client()
    );
    assert_eq!(seen.said("a: response_body(2, 3, 0)"), 2);
}

/// Half of an answer, and the rest when it is released: so that the pieces are the same whenever they are read.
fn in_two_pieces(body: &str) -> Faults {
    Faults {
        body: Some(body.to_owned()),
        ..Faults::interrupt(At::Bytes(body.len() / 2), How::Hold)
    }
}

#[test]
fn requests_without_a_body_end_with_their_head() {
    let seen = Case::new().filter(scripted("a", "")).run(|client| {
        drop(client.get("/readyz"));
        drop(client.post("/x", ""));
        let mut talk = client.open("POST chunked and empty");
        talk.send("POST /x HTTP/1.1\r\nhost: g\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n");
        client.response(&mut talk);
    });

    assert_eq!(seen.said("request_headers(2, 8, 1)"), 1);
}

#[test]
fn a_length_that_no_longer_fits_is_sent_as_it_is() {
    let script = "request_body more: set_buffer_bytes 0 0 0 longer";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.post("/x", "body")));

    assert!(seen.workers().contains(&"  content-length: 4".to_owned()));
    assert!(
        seen.workers().contains(&"  \"long\"".to_owned()),
        "{:?}",
        seen.workers()
    );
}

#[test]
fn a_request_that_is_too_large_to_be_held_is_refused_with_413() {
    let script = "request_headers: return 1
        request_body more: return 1
        response_headers: get_property response/code_details
        log: get_property response/flags";

    let seen = Case::new()
        .filter(scripted("a", script).with_headers_stop())
        .filter(scripted("b", ""))
        .shape(|raw| raw.listener("per_connection_buffer_limit_bytes", json!(1000)))
        .run(|client| {
            drop(client.post("/x", &"b".repeat(1000)));
            drop(client.post("/x", &"b".repeat(1001)));
        });

    assert_eq!(seen.statuses(), [404, 413]);
    assert_eq!(
        seen.answers("get_property response/code_details")[1],
        "0 \"request_payload_too_large\""
    );
}

#[test]
fn a_response_that_is_too_large_to_be_held_becomes_500() {
    let script = "response_headers: return 1
        response_body more: return 1
        log: get_property response/code_details";

    let seen = Case::new()
        .filter(scripted("a", script).with_headers_stop())
        .filter(scripted("b", ""))
        .answers(
            "w1",
            "HTTP/1.1 200 OK\r\ncontent-length: 40\r\n\r\n0123456789012345678901234567890123456789",
        )
        .shape(|raw| raw.listener("per_connection_buffer_limit_bytes", json!(16)))
        .run(|client| drop(client.post("/x", "")));

    assert_eq!(seen.statuses(), [500]);
}

#[test]
fn a_response_that_grows_too_large_after_its_head_is_broken_off() {
    let script = "response_body more: return 1
        log: get_property response/code_details";

    let seen = Case::new()
        .filter(scripted("a", script))
        .answers(
            "w1",
            "HTTP/1.1 200 OK\r\ncontent-length: 40\r\n\r\n0123456789012345678901234567890123456789",
        )
        .shape(|raw| raw.listener("per_connection_buffer_limit_bytes", json!(16)))
        .run(|client| drop(client.post("/x", "")));

    assert_eq!(seen.statuses(), [200]);
    assert_eq!(seen.responses[0].body, b"");
}
