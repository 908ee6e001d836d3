use host_sim_host::config::Http1;

use super::cuts;
use crate::http1::request::{RequestDecoder, RequestPart};

#[test]
fn trailers_come_behind_the_body_however_they_are_cut() {
    let wanted = Http1 {
        trailers: true,
        ..Http1::CLIENTS
    };
    let bytes = b"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-A:  1 \r\nx-b:\r\n\r\n";
    for pieces in cuts(bytes) {
        let mut decoder = RequestDecoder::new(wanted);
        let mut parts = Vec::new();
        for piece in &pieces {
            decoder.push(piece);
            while let Some(part) = decoder.next_part().expect("a request") {
                parts.push(part);
            }
        }

        let line = |name: &str, value: &str| (name.into(), value.into());
        let last = RequestPart::Trailers(vec![line("x-a", "1"), line("x-b", "")]);
        assert_eq!(parts.pop(), Some(last));
        let ended = |part: &RequestPart| {
            matches!(
                part,
                RequestPart::Data {
                    end_stream: true,
                    ..
                }
            )
        };
        assert!(!parts.iter().any(ended), "the trailers are the end");
        assert!(decoder.is_complete());
    }
}
