use host_sim_host::config::Http1;
use proptest::prelude::*;

use super::cuts;
use crate::http1::response::{NotHttp, ResponseDecoder, ResponsePart};

#[derive(Debug, Default, PartialEq)]
struct Whole {
    head: String,
    body: Vec<u8>,
    complete: bool,
    reusable: bool,
}

fn take(decoder: &mut ResponseDecoder, whole: &mut Whole) -> Result<(), NotHttp> {
    while let Some(part) = decoder.next_part()? {
        add(whole, part);
    }
    Ok(())
}

fn add(whole: &mut Whole, part: ResponsePart) {
    match part {
        ResponsePart::Head {
            headers,
            end_stream,
        } => {
            assert_eq!(whole.head, "", "one head only");
            whole.head = headers
                .iter()
                .map(|(name, value)| format!("{}={}\n", name.escape_ascii(), value.escape_ascii()))
                .collect();
            whole.complete = end_stream;
        }
        ResponsePart::Trailers(_) => panic!("nobody asked for trailers"),
        ResponsePart::Data { data, end_stream } => {
            whole.body.extend_from_slice(&data);
            whole.complete = end_stream;
        }
    }
}

/// Decodes a response whose connection ends behind the last piece if `ends`.
fn decode(pieces: &[Vec<u8>], to_head: bool, ends: bool) -> Result<Whole, NotHttp> {
    let mut decoder = ResponseDecoder::new(to_head, Http1::WORKERS);
    let mut whole = Whole::default();
    for piece in pieces {
        decoder.push(piece);
        take(&mut decoder, &mut whole)?;
    }
    if ends && let Some(part) = decoder.connection_ended() {
        add(&mut whole, part);
    }
    whole.reusable = decoder.may_reuse();
    Ok(whole)
}

#[test]
fn responses_end_where_their_head_says() {
    for (bytes, body, complete, reusable) in [
        (&b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nab"[..], &b"ab"[..], true, true),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", b"", true, true),
        (b"HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n", b"", true, true),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nabX", b"ab", true, false),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nab", b"ab", false, false),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nab", b"ab", true, false),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", b"a", true, true),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n", b"a", false, false),
        (b"HTTP/1.1 200 OK\r\n\r\nrest", b"rest", true, false),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\na", b"a", true, false),
        (b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 1\r\n\r\na", b"a", true, true),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b"", true, true),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\nwhatever", b"", true, false),
        (b"HTTP/1.1 099 Odd\r\n\r\nrest", b"rest", true, false),
        (b"HTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\n\r\n", b"", true, true),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nx: y\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na", b"a", true, true),
    ] {
        for pieces in cuts(bytes) {
            let whole = decode(&pieces, false, true).expect("HTTP");
            let seen = (whole.body.as_slice(), whole.complete, whole.reusable);
            assert_eq!(seen, (body, complete, reusable), "{}", bytes.escape_ascii());
        }
    }
}

#[test]
fn an_answer_to_head_has_no_body() {
    let bytes = b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n".to_vec();
    let whole = decode(&[bytes], true, false).expect("HTTP");
    assert!(whole.complete && whole.reusable);
    assert_eq!(whole.head, ":status=200\ncontent-length=7\n");
}

#[test]
fn a_length_of_zero_where_there_is_no_body_is_dropped() {
    let bytes = b"HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n".to_vec();
    assert_eq!(
        decode(&[bytes], false, false).expect("HTTP").head,
        ":status=204\n"
    );
}

#[test]
fn the_head_comes_as_it_is_in_lower_case() {
    let bytes =
        b"HTTP/1.1 429 Slow\r\nRetry-After: 1\r\nX: \xff\r\nTransfer-Encoding: chunked\r\n\r\n"
            .to_vec();
    let whole = decode(&[bytes], false, false).expect("HTTP");
    assert_eq!(
        whole.head,
        ":status=429\nretry-after=1\nx=\\xff\ntransfer-encoding=chunked\n"
    );
}

#[test]
fn blanks_and_folded_lines_are_forgiven() {
    let bytes = b"HTTP/1.1  200  Very OK \r\nx: 1\r\n 2\r\ncontent-length: 0\r\n\r\n".to_vec();
    let whole = decode(&[bytes], false, false).expect("HTTP");
    assert_eq!(whole.head, ":status=200\nx=1 2\ncontent-length=0\n");
}

#[test]
fn garbage_is_not_http() {
    for bytes in [
        &b"garbage"[..],
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"\r\nHTTP/1.1 200 OK\r\n\r\n",
        b"\n",
        b"HTTP/1.1 204 OK\r\ncontent-length: 2\r\n\r\n",
        b"HTTP/1.1 204 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"\x00\x00\x00\x04\x00\x00\x00\x00\x00",
    ] {
        assert_eq!(
            decode(&[bytes.to_vec()], false, false),
            Err(NotHttp),
            "{}",
            bytes.escape_ascii()
        );
    }
    let endless = format!("HTTP/1.1 200 OK\r\nx: {}", "a".repeat(90_000)).into_bytes();
    assert_eq!(decode(&[endless], false, false), Err(NotHttp));
}

proptest! {
    #[test]
    fn no_bytes_make_the_decoder_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64), head in any::<bool>()) {
        let mut response = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
        response.extend_from_slice(&bytes);
        let _ = decode(&[bytes], head, true);
        let _ = decode(&[response], head, true);
    }
}
