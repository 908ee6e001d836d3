use proptest::prelude::*;

use host_sim_host::config::Http1;

use super::cuts;
use crate::http1::request::{BadRequest, RequestDecoder, RequestHead, RequestPart};

const LIMIT: Http1 = Http1::CLIENTS;

/// A request with its body joined, whatever pieces it came in.
#[derive(Debug, PartialEq)]
struct Whole {
    head: RequestHead,
    body: Vec<u8>,
    complete: bool,
}

/// Decodes requests one after the other until nothing is left.
fn decode(pieces: &[Vec<u8>]) -> (Vec<Whole>, Option<BadRequest>) {
    let mut decoder = RequestDecoder::default();
    let mut requests: Vec<Whole> = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        loop {
            match decoder.next_part() {
                Ok(Some(RequestPart::Head(head))) => {
                    let complete = head.end_stream;
                    requests.push(Whole {
                        head,
                        body: Vec::new(),
                        complete,
                    });
                }
                Ok(Some(RequestPart::Data { data, end_stream })) => {
                    let last = requests.last_mut().expect("a head comes first");
                    last.body.extend_from_slice(&data);
                    last.complete = end_stream;
                }
                Ok(Some(RequestPart::Trailers(_))) => panic!("nobody asked for trailers"),
                Ok(None) if decoder.is_complete() && decoder.buffered() > 0 => decoder.start_next(),
                Ok(None) => break,
                Err(bad) => return (requests, Some(bad)),
            }
            if decoder.is_complete() {
                decoder.start_next();
            }
        }
    }
    (requests, None)
}

fn one(bytes: &[u8]) -> Whole {
    let (mut requests, bad) = decode(&[bytes.to_vec()]);
    assert_eq!(bad, None, "{}", bytes.escape_ascii());
    assert_eq!(requests.len(), 1);
    requests.remove(0)
}

fn lines(head: &RequestHead) -> String {
    head.headers
        .iter()
        .map(|(name, value)| format!("{}={}\n", name.escape_ascii(), value.escape_ascii()))
        .collect()
}

#[test]
fn a_head_becomes_pseudo_headers_and_lower_case_names() {
    let head = one(
        b"GET /a?b=%2F HTTP/1.1\r\nHost: h:1\r\nX-Mixed:  v w \r\nConnection: keep-alive\r\n\r\n",
    )
    .head;
    assert_eq!(
        lines(&head),
        ":authority=h:1\n:path=/a?b=%2F\n:method=GET\n:scheme=http\nx-mixed=v w\n"
    );
    assert!(head.end_stream && !head.close);
}

#[test]
fn raw_bytes_of_values_are_kept() {
    let head = one(b"GET / HTTP/1.1\r\nhost: h\r\nx: \x80\xff\xc3\x28\r\n\r\n").head;
    assert_eq!(
        head.headers.last(),
        Some(&(b"x".to_vec(), b"\x80\xff\xc3\x28".to_vec()))
    );
}

#[test]
fn an_absolute_url_replaces_the_host() {
    for (target, expected) in [
        (
            "http://real:8/p?q",
            ":authority=real:8\n:path=/p?q\n:method=GET\n:scheme=http\n",
        ),
        (
            "HTTP://real",
            ":authority=real\n:path=/\n:method=GET\n:scheme=http\n",
        ),
        (
            "http://user@real/p",
            ":authority=real\n:path=/p\n:method=GET\n:scheme=http\n",
        ),
        (
            "http://real?q",
            ":authority=real\n:path=?q\n:method=GET\n:scheme=http\n",
        ),
    ] {
        let bytes = format!("GET {target} HTTP/1.1\r\nhost: other\r\n\r\n").into_bytes();
        assert_eq!(lines(&one(&bytes).head), expected);
    }
}

#[test]
fn several_hosts_become_a_list() {
    let head = one(b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n").head;
    assert!(lines(&head).starts_with(":authority=a,b\n"));
}

#[test]
fn what_the_connection_header_names_is_dropped() {
    for (named, left) in [
        ("X-Secret", "y=2\n"),
        ("y , x-secret", ""),
        ("x secret", "x-secret=1\ny=2\n"),
        ("close,y", "x-secret=1\n"),
    ] {
        let bytes = format!(
            "GET / HTTP/1.1\r\nhost: h\r\nx-secret: 1\r\ny: 2\r\nconnection: {named}\r\n\r\n"
        );
        let head = one(bytes.as_bytes()).head;
        assert_eq!(
            lines(&head),
            format!(":authority=h\n:path=/\n:method=GET\n:scheme=http\n{left}")
        );
    }
    let head = one(b"GET / HTTP/1.1\r\nhost: h\r\nconnection: host\r\n\r\n").head;
    assert!(lines(&head).starts_with(":path="), "a host that is gone");
    let request = one(
        b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\nconnection: content-length\r\n\r\na",
    );
    assert!(
        lines(&request.head).contains("content-length=1"),
        "the body stays framed"
    );
}

#[test]
fn who_wants_another_protocol_keeps_the_headers_that_say_so() {
    let bytes = b"GET / HTTP/1.1\r\nhost: h\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n";
    let head = one(bytes).head;
    assert!(lines(&head).ends_with("connection=Upgrade\nupgrade=websocket\n"));
    assert!(!head.end_stream, "what follows is not another request");
    let bytes = b"GET / HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n";
    let head = one(bytes).head;
    assert!(lines(&head).ends_with(":scheme=http\n") && head.end_stream);
}

#[test]
fn a_connect_has_an_authority_and_no_path() {
    let head = one(b"CONNECT real:443 HTTP/1.1\r\nhost: other\r\n\r\n").head;
    assert_eq!(
        lines(&head),
        ":authority=real:443\n:method=CONNECT\n:scheme=http\n"
    );
    assert!(!head.end_stream);
}

#[test]
fn blanks_and_folded_lines_are_forgiven() {
    let head = one(b"GET  /p\tHTTP/1.1 \r\nhost: h\r\nx: 1\r\n 2\r\n\r\n").head;
    assert_eq!(
        lines(&head),
        ":authority=h\n:path=/p\n:method=GET\n:scheme=http\nx=1 2\n"
    );
}

#[test]
fn a_missing_host_is_left_to_the_connection_manager() {
    let head = one(b"GET /p HTTP/1.1\r\n\r\n").head;
    assert_eq!(lines(&head), ":path=/p\n:method=GET\n:scheme=http\n");
}

#[test]
fn bodies_end_where_the_head_says() {
    for (bytes, body, end_stream_in_head) in [
        (&b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 3\r\n\r\nabc"[..], &b"abc"[..], false),
        (b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n", b"", true),
        (b"POST / HTTP/1.1\r\nhost: h\r\n\r\n", b"", true),
        (b"POST / HTTP/1.1\r\nhost: h\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n", b"abc", false),
        (b"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n0\r\nt: v\r\n\r\n", b"", false),
        (b"\r\n\r\nPOST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\n\r\na", b"a", false),
    ] {
        let request = one(bytes);
        assert_eq!(request.body, body, "{}", bytes.escape_ascii());
        assert_eq!(request.head.end_stream, end_stream_in_head, "{}", bytes.escape_ascii());
        assert!(request.complete);
    }
}

#[test]
fn the_encoding_of_a_body_is_not_handed_on() {
    let head =
        one(b"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n").head;
    assert!(!lines(&head).contains("transfer-encoding"));
}

#[test]
fn a_client_that_waits_for_a_word_is_known() {
    let head =
        one(b"POST / HTTP/1.1\r\nhost: h\r\nExpect: 100-Continue\r\ncontent-length: 1\r\n\r\na")
            .head;
    assert!(head.expect_continue);
    assert!(!lines(&head).contains("expect"));
    assert!(
        one(b"GET / HTTP/1.1\r\nhost: h\r\nconnection: x, Close\r\n\r\n")
            .head
            .close
    );
}

const fn refused(status: u16, details: &'static str) -> BadRequest {
    BadRequest::Refused { status, details }
}

#[test]
fn what_is_not_a_request_is_refused() {
    let codec_error = refused(400, "http1.codec_error");
    let url = refused(400, "http1.invalid_url");
    let both = refused(400, "http1.content_length_and_chunked_not_allowed");
    let encoding = refused(501, "http1.invalid_transfer_encoding");
    let old = refused(426, "low_version");
    let authority = refused(400, "http.invalid_authority");
    let characters = refused(400, "http1.invalid_characters");
    let hop = refused(400, "http1.connection_header_rejected");
    for (bytes, expected) in [
        (&b"GET\r\n\r\n"[..], codec_error),
        (b"GET / HTTP/1.1 x\r\n\r\n", codec_error),
        (b"G@T / HTTP/1.1\r\nhost: h\r\n\r\n", codec_error),
        (b"\x00\x01\x02\n", codec_error),
        (b"GET / HTTP/2.0\r\nhost: h\r\n\r\n", old),
        (b"GET / HTTP/1.2\r\nhost: h\r\n\r\n", old),
        (b"GET /\r\n\r\n", old),
        (b"GET path\r\n\r\n", codec_error),
        (b"GET / http/1.1\r\nhost: h\r\n\r\n", codec_error),
        (b"GET / HTTP/11\r\nhost: h\r\n\r\n", codec_error),
        (b"get / HTTP/1.1\r\nhost: h\r\n\r\n", codec_error),
        (b"M-SEARCH / HTTP/1.1\r\nhost: h\r\n\r\n", codec_error),
        (b"GET path HTTP/1.1\r\nhost: h\r\n\r\n", codec_error),
        (b"CONNECT h HTTP/1.1\r\nhost: h\r\n\r\n", url),
        (b"CONNECT /x HTTP/1.1\r\nhost: h\r\n\r\n", url),
        (b"CONNECT u@h:1 HTTP/1.1\r\nhost: h\r\n\r\n", url),
        (b"CONNECT h:99999 HTTP/1.1\r\nhost: h\r\n\r\n", url),
        (b"CONNECT h:1 HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n", encoding),
        (b"GET http://h#x HTTP/1.1\r\nhost: h\r\n\r\n", codec_error),
        (b"CONNECT :1 HTTP/1.1\r\nhost: h\r\n\r\n", url),
        (b"CONNECT h:1 HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\n\r\nab", refused(400, "http1.body_disallowed")),
        (b"GET https://h/ HTTP/1.1\r\nhost: h\r\n\r\n", refused(403, "http1.https_url_on_plaintext_connection")),
        (b"GET * HTTP/1.1\r\nhost: h\r\n\r\n", url),
        (b"GET ftp://h/ HTTP/1.1\r\nhost: h\r\n\r\n", refused(400, "http1.invalid_scheme")),
        (b"GET / HTTP/1.1\r\n x: y\r\nhost: h\r\n\r\n", codec_error),
        (b"GET / HTTP/1.1\r\nhost: h h\r\n\r\n", authority),
        (b"GET / HTTP/1.1\r\nhost: h/x\r\n\r\n", authority),
        (b"GET / HTTP/1.1\r\nhost: \xff\r\n\r\n", authority),
        (b"GET / HTTP/1.1\r\nhost: h\r\nx: a\x00b\r\n\r\n", characters),
        (b"GET / HTTP/1.1\r\nhost: h\r\nx: a\x7fb\r\n\r\n", characters),
        (b"GET /\x01 HTTP/1.1\r\nhost: h\r\n\r\n", characters),
        (b"G\x01T / HTTP/1.1\r\nhost: h\r\n\r\n", characters),
        (b"GET /\xe9 HTTP/1.1\r\nhost: h\r\n\r\n", codec_error),
        (b"GET /?\xe9 HTTP/1.1\r\nhost: h\r\n\r\n", codec_error),
        (b"GET / HTTP/1.1\r\nhost: h\r\nconnection: x-forwarded-for\r\n\r\n", hop),
        (b"GET / HTTP/1.1\r\nhost: h\r\nconnection: :path\r\n\r\n", hop),
        (b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\n", codec_error),
        (b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 18446744073709551616\r\n\r\n", codec_error),
        (b"GET / HTTP/1.0\r\nhost: h\r\n\r\n", refused(426, "low_version")),
        (b"GET / HTTP/1.1\r\nhost: h\r\nx : y\r\n\r\n", codec_error),
        (b"GET / HTTP/1.1\r\nhost: h\r\n: v\r\n\r\n", codec_error),
        (b"GET http:/// HTTP/1.1\r\nhost: h\r\n\r\n", refused(400, "http1.invalid_url")),
        (b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n", both),
        (b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\ntransfer-encoding: identity\r\n\r\n", both),
        (b"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: gzip, chunked\r\n\r\n", encoding),
        (b"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n", encoding),
        (b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", codec_error),
        (b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1, 1\r\n\r\n", codec_error),
        (b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: +1\r\n\r\n", codec_error),
        (b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: -1\r\n\r\n", codec_error),
        (b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 0x1\r\n\r\n", codec_error),
        (b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1 1\r\n\r\n", codec_error),
        (b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length:\r\n\r\n", codec_error),
        (b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 99999999999999999999\r\n\r\n", codec_error),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", BadRequest::Http2),
        (b"\x16\x03\x01\x02\x00\x01\x00", BadRequest::Tls),
    ] {
        let (requests, bad) = decode(&[bytes.to_vec()]);
        assert_eq!((requests.len(), bad), (0, Some(expected)), "{}", bytes.escape_ascii());
    }
}

#[test]
fn chunks_that_break_the_rules_are_refused() {
    for chunks in [
        "x\r\n",
        "\r\n",
        ";\r\n",
        "-1\r\n",
        "+1\r\na\r\n",
        "0x1\r\na\r\n",
        "1\na\r\n",
        "1 \r\na\r\n",
        "1\r\nab\r\n",
        "1\r\na\n",
        "1\r\na0\r\n\r\n",
        "1;\x01\r\n",
        "1000000000000000\r\n",
        "0\r\n\x00\r\n\r\n",
        "0\r\nt: v\n\r\n",
        "0\r\nbad\r\n\r\n",
        "0\r\n: v\r\n\r\n",
        "0\r\n t: v\r\n\r\n",
    ] {
        let bytes =
            format!("POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n{chunks}");
        let (_, bad) = decode(&[bytes.into_bytes()]);
        assert_eq!(bad, Some(BadRequest::Body), "{}", chunks.escape_debug());
    }
}

#[test]
fn endless_extensions_and_trailers_are_refused() {
    let head = "POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n";
    let too_large = BadRequest::Trailers {
        details: "http1.headers_too_large",
    };
    for (endless, bad) in [
        (format!("{head}1;{}", "x".repeat(5000)), BadRequest::Body),
        (
            format!("{head}0\r\n{}", "t: v\r\n".repeat(20_000)),
            too_large,
        ),
    ] {
        assert_eq!(decode(&[endless.into_bytes()]).1, Some(bad));
    }
}

#[test]
fn heads_are_bounded_in_bytes_and_lines() {
    let with = |filler: usize| {
        format!(
            "GET / HTTP/1.1\r\nhost: h\r\nx: {}\r\n\r\n",
            "a".repeat(filler)
        )
        .into_bytes()
    };
    let frame = with(0).len();
    assert_eq!(decode(&[with(LIMIT.head_limit_bytes - frame)]).1, None);
    let too_large = Some(refused(431, "http1.headers_too_large"));
    assert_eq!(
        decode(&[with(LIMIT.head_limit_bytes - frame + 1)]).1,
        too_large
    );
    assert_eq!(
        decode(&[vec![b'a'; LIMIT.head_limit_bytes + 1]]).1,
        too_large,
        "without any line"
    );
    let with = |count: usize| {
        format!(
            "GET / HTTP/1.1\r\nhost: h\r\n{}\r\n",
            "x: y\r\n".repeat(count - 1)
        )
        .into_bytes()
    };
    assert_eq!(decode(&[with(LIMIT.header_limit)]).1, None);
    assert_eq!(
        decode(&[with(LIMIT.header_limit + 1)]).1,
        Some(refused(431, "http1.too_many_headers"))
    );
}

#[test]
fn a_bad_line_is_refused_before_the_head_is_complete() {
    assert_eq!(
        decode(&[b"nonsense\r\n".to_vec()]).1,
        Some(refused(400, "http1.codec_error"))
    );
}

const PIPELINE: &[u8] = b"POST /a HTTP/1.1\r\nHost: h\r\nX: y\r\nContent-Length: 5\r\n\r\nhello\
GET /b HTTP/1.1\r\nhost: h\r\n\r\n\
POST /c HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\na;e=1\r\n0123456789\r\n3\r\nabc\r\n0\r\nt: v\r\n\r\n\
POST /d HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\n\r\nxy";

#[test]
fn requests_cut_at_every_byte_give_the_same_events() {
    let whole = decode(&[PIPELINE.to_vec()]);
    assert_eq!(whole.0.len(), 4);
    assert_eq!(whole.1, None);
    for pieces in cuts(PIPELINE) {
        assert_eq!(decode(&pieces), whole);
    }
}

#[test]
fn one_read_gives_one_piece_over_the_borders_of_chunks() {
    let mut decoder = RequestDecoder::default();
    decoder.push(
        b"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n",
    );
    assert!(matches!(
        decoder.next_part(),
        Ok(Some(RequestPart::Head(_)))
    ));
    assert_eq!(
        decoder.next_part(),
        Ok(Some(RequestPart::Data {
            data: b"ab".to_vec(),
            end_stream: false
        }))
    );
    assert_eq!(decoder.next_part(), Ok(None));
    decoder.push(b"0\r\n\r\n");
    assert_eq!(
        decoder.next_part(),
        Ok(Some(RequestPart::Data {
            data: Vec::new(),
            end_stream: true
        }))
    );
}

/// Without the body that became unreadable: what was read together with the bad bytes is not handed
/// on, as in Envoy, so how much of it was depends on the reads.
fn settled(
    (mut requests, bad): (Vec<Whole>, Option<BadRequest>),
) -> (Vec<Whole>, Option<BadRequest>) {
    if bad == Some(BadRequest::Body)
        && let Some(last) = requests.last_mut()
    {
        last.body.clear();
    }
    (requests, bad)
}

/// Bytes that come close to requests, so that more than the first line is reached.
fn nearly() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"GET / HTTP/1.1\r\n".to_vec()),
        Just(b"host: h\r\n".to_vec()),
        Just(b"transfer-encoding: chunked\r\n".to_vec()),
        Just(b"content-length: 7\r\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"5\r\nabcde\r\n".to_vec()),
        Just(b"0\r\n\r\n".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..12),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_bytes_make_the_decoder_panic_and_cuts_change_nothing(bytes in nearly(), at in any::<prop::sample::Index>()) {
        let whole = decode(std::slice::from_ref(&bytes));
        let at = at.index(bytes.len() + 1);
        let (first, second) = bytes.split_at(at);
        let cut = decode(&[first.to_vec(), second.to_vec()]);
        prop_assert_eq!(settled(whole), settled(cut));
    }
}
