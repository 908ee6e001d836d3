//! Reading and changing bodies (envoy-lab.md 6 and 12, envoy-wasm-host.md 1).

use host_sim_host::abi::{BufferKind, Call, MapKind, Refusal, Status};

use crate::stage::{PAUSE, Setup, guest, value};

const BODY: BufferKind = BufferKind::RequestBody;

#[test]
fn bytes_are_replaced_from_the_start_or_added_at_the_end() {
    for (start, length, data, expected) in [
        (0, 0, "ab", Some("ab12345")),
        (0, 2, "ab", Some("ab345")),
        (0, 5, "ab", Some("ab")),
        (0, u32::MAX, "ab", Some("ab")),
        (5, 0, "ab", Some("12345ab")),
        (9, 3, "ab", Some("12345ab")),
        (2, 1, "ab", None),
    ] {
        let script = guest(move |host, call| {
            if let Call::RequestBody {
                end_of_stream: false,
                ..
            } = call
            {
                let set = host.set_buffer_bytes(BODY, start, length, data.as_bytes());
                let bad = Err(Refusal::Tell(Status::BadArgument));
                assert_eq!(set, if expected.is_some() { Ok(()) } else { bad });
            }
            None
        });
        let mut stage = Setup::new(&[("a", script)]).start();
        stage.post(1, "12345");
        stage.connect();
        assert_eq!(
            stage.sent_upstream().1,
            expected.unwrap_or("12345"),
            "{start} {length}"
        );
    }
}

#[test]
fn reads_are_cut_to_what_is_there() {
    let script = guest(|host, call| {
        if let Call::RequestBody {
            end_of_stream: false,
            ..
        } = call
        {
            assert_eq!(host.get_buffer_bytes(BODY, 1, 2).unwrap(), b"23");
            assert_eq!(host.get_buffer_bytes(BODY, 3, 100).unwrap(), b"45");
            assert_eq!(host.get_buffer_bytes(BODY, 6, 1).unwrap(), b"");
            assert_eq!(host.get_buffer_bytes(BODY, 1, u32::MAX).unwrap(), b"2345");
            assert_eq!(host.get_buffer_bytes(BODY, u32::MAX, 1).unwrap(), b"");
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)]).start();
    stage.post(1, "12345");
    assert_eq!(stage.tried(), [1]);
}

#[test]
fn a_message_without_a_body_reads_as_empty_and_takes_none() {
    let script = guest(|host, call| {
        if let Call::RequestHeaders { .. } = call {
            assert_eq!(host.get_buffer_bytes(BODY, 0, 10).unwrap(), b"");
            let set = host.set_buffer_bytes(BODY, 0, 0, b"x");
            assert_eq!(set, Err(Refusal::Tell(Status::BadArgument)));
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)]).start();
    stage.get(1);
    assert_eq!(stage.tried(), [1]);
}

#[test]
fn a_body_that_was_held_comes_to_each_attempt_whole_and_fresh() {
    let holds = guest(|_, call| match call {
        Call::RequestHeaders { .. }
        | Call::RequestBody {
            end_of_stream: false,
            ..
        } => Some(PAUSE),
        _ => None,
    });
    let attempt = guest(|host, call| {
        if let Call::RequestBody {
            size,
            end_of_stream,
            ..
        } = call
        {
            assert_eq!((*size, *end_of_stream), (10, true));
            host.set_buffer_bytes(BODY, 0, 2, b"longer").unwrap();
        }
        None
    });
    let mut stage = Setup::new(&[("a", holds)])
        .attempt("workers", "attempt", attempt)
        .retry("5xx", 1)
        .start();
    stage.request(1, &[("content-length", "10")], false);
    stage.data(1, "12345", false);
    stage.data(1, "67890", true);
    for _ in 0..2 {
        stage.connect();
        let (head, body, end) = stage.sent_upstream();
        assert_eq!((body.as_str(), end), ("longer34567890", true));
        // Nobody corrected it: the worker reads ten bytes and takes the rest for the next request.
        assert_eq!(value(&head.unwrap(), "content-length"), Some("10"));
        stage.answer(503, &[], true);
        stage.wait(25);
    }
}

#[test]
fn nothing_is_sent_before_the_connection_is_there_but_the_filters_run_at_once() {
    let attempt = guest(|host, call| {
        if let Call::RequestHeaders { .. } = call {
            host.remove_header_map_value(MapKind::RequestHeaders, b"content-length")
                .unwrap();
        }
        None
    });
    let mut stage = Setup::new(&[])
        .attempt("workers", "attempt", attempt)
        .start();
    stage.request(1, &[("content-length", "4")], false);
    stage.data(1, "body", true);
    assert_eq!(
        stage.journal(),
        [
            "attempt request_headers",
            "attempt request_body 4",
            "attempt request_body 0 end"
        ]
    );
    assert_eq!(stage.sent_upstream(), (None, String::new(), false));
    stage.connect();
    let (head, body, end) = stage.sent_upstream();
    assert_eq!(value(&head.unwrap(), "content-length"), None);
    assert_eq!((body.as_str(), end), ("body", true));
}

#[test]
fn a_piece_of_a_stream_replaced_by_nothing_is_not_sent() {
    let script = guest(|host, call| {
        if let Call::ResponseBody { size, .. } = call {
            let bytes = host
                .get_buffer_bytes(BufferKind::ResponseBody, 0, *size)
                .unwrap();
            if bytes == b"secret" {
                host.set_buffer_bytes(BufferKind::ResponseBody, 0, *size, b"")
                    .unwrap();
            }
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)]).start();
    stage.get(1);
    stage.answer(200, &[], false);
    for piece in ["one,", "secret", "two"] {
        stage.answer_data(piece, false);
    }
    stage.answer_data("", true);
    let response = stage.response(1);
    assert_eq!(
        (response.body.as_str(), response.complete),
        ("one,two", true)
    );
}
