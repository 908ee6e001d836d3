//! Calls over gRPC, for scenarios: over sockets this worker speaks HTTP/1.1 only.

use super::{Body, Reply};
use crate::message::Request;

/// What the paths begin with.
const SERVICE: &str = "/mock.Echo/";

/// Answers a call: `Unary` gives the messages back, `Fail` ends with the status that its message says
/// (`9 not so`). `None`: not a call, or of another service.
pub(super) fn answer(request: &Request) -> Option<Reply> {
    let method = request.path().strip_prefix(SERVICE)?;
    let kind = request.header("content-type").unwrap_or_default();
    if !kind.starts_with(b"application/grpc") {
        return None;
    }
    let (messages, status, text) = match method {
        "Unary" => (vec![request.body.clone()], "0".to_owned(), String::new()),
        "Fail" => {
            // Behind flag and length.
            let message = String::from_utf8_lossy(request.body.get(5..).unwrap_or_default());
            let (status, text) = message.split_once(' ').unwrap_or((&message, ""));
            (Vec::new(), status.to_owned(), text.to_owned())
        }
        _ => (Vec::new(), "12".to_owned(), "no such method".to_owned()),
    };
    let trailers = vec![
        ("grpc-status".to_owned(), status),
        ("grpc-message".to_owned(), text),
    ];
    let body = Body::Messages { messages, trailers };
    Some(Reply::new(200, "application/grpc", body))
}
