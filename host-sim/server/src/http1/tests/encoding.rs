use host_sim_host::io::Headers;

use crate::http1::encode::{BodyEncoding, data, request_head, response_head};

fn headers(lines: &[(&str, &str)]) -> Headers {
    lines
        .iter()
        .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()))
        .collect()
}

/// The whole response as text.
fn response(lines: &[(&str, &str)], body: &str, end_in_head: bool, to_head: bool) -> String {
    let mut out = Vec::new();
    let head = response_head(&mut out, &headers(lines), end_in_head, to_head, false);
    if !end_in_head {
        data(&mut out, head.body, body.as_bytes(), false);
        data(&mut out, head.body, b"", true);
    }
    String::from_utf8(out).expect("text")
}

#[test]
fn a_response_has_a_length_or_chunks() {
    let ok = (":status", "200");
    for (lines, body, end_in_head, to_head, expected) in [
        (
            vec![ok, ("content-length", "2")],
            "ab",
            false,
            false,
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nab",
        ),
        (
            vec![ok],
            "ab",
            false,
            false,
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        ),
        (
            vec![ok],
            "",
            true,
            false,
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        ),
        (
            vec![ok, ("content-length", "9")],
            "",
            true,
            true,
            "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n",
        ),
        (
            vec![ok],
            "ab",
            false,
            true,
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        ),
        (
            vec![ok],
            "",
            true,
            true,
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        ),
        (
            vec![(":status", "204")],
            "",
            true,
            false,
            "HTTP/1.1 204 No Content\r\n\r\n",
        ),
        (
            vec![(":status", "304")],
            "x",
            false,
            false,
            "HTTP/1.1 304 Not Modified\r\n\r\n",
        ),
        (
            vec![
                ok,
                ("transfer-encoding", "chunked"),
                ("connection", "keep-alive"),
            ],
            "",
            true,
            false,
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        ),
    ] {
        assert_eq!(response(&lines, body, end_in_head, to_head), expected);
    }
}

#[test]
fn a_body_longer_than_its_length_is_written_as_it_is() {
    let lines = [(":status", "200"), ("content-length", "2")];
    assert!(response(&lines, "abcd", false, false).ends_with("\r\n\r\nabcd"));
}

#[test]
fn the_end_of_the_connection_is_announced_once() {
    let mut out = Vec::new();
    let lines = headers(&[(":status", "413"), ("connection", "close")]);
    let head = response_head(&mut out, &lines, true, false, true);
    assert!(head.close);
    let text = String::from_utf8(out).expect("text");
    assert_eq!(text.matches("connection: close\r\n").count(), 1);
}

#[test]
fn a_request_is_written_as_given() {
    let base = [
        (":method", "POST"),
        (":path", "/p"),
        (":authority", "w:1"),
        (":scheme", "http"),
        ("x", "y"),
    ];
    let written = |extra: &[(&str, &str)], end_stream| {
        let mut out = Vec::new();
        let body = request_head(&mut out, &headers(&[&base[..], extra].concat()), end_stream);
        (String::from_utf8(out).expect("text"), body)
    };
    let plain = "POST /p HTTP/1.1\r\nhost: w:1\r\nx: y\r\n";
    assert_eq!(
        written(&[], false),
        (
            format!("{plain}transfer-encoding: chunked\r\n\r\n"),
            BodyEncoding::Chunked
        )
    );
    assert_eq!(
        written(&[], true),
        (
            format!("{plain}content-length: 0\r\n\r\n"),
            BodyEncoding::Plain
        )
    );
    let with_length = (
        format!("{plain}content-length: 3\r\n\r\n"),
        BodyEncoding::Plain,
    );
    assert_eq!(written(&[("content-length", "3")], false), with_length);
}

#[test]
fn a_get_has_no_length() {
    let mut out = Vec::new();
    request_head(
        &mut out,
        &headers(&[(":method", "GET"), (":path", "/"), (":authority", "h")]),
        true,
    );
    assert_eq!(out, b"GET / HTTP/1.1\r\nhost: h\r\n\r\n");
}

#[test]
fn a_value_is_written_as_it_is_also_one_that_ends_its_line() {
    let lines = headers(&[
        (":status", "200"),
        ("x", "a\r\nevil: 1"),
        ("y\n", "b"),
        ("z", "c\0"),
    ]);
    let mut out = Vec::new();
    response_head(&mut out, &lines, true, false, false);
    assert_eq!(
        out,
        b"HTTP/1.1 200 OK\r\nx: a\r\nevil: 1\r\ny\n: b\r\nz: c\0\r\ncontent-length: 0\r\n\r\n"
    );
}
