//! Messages as bytes.
//!
//! A `content-length` is believed: the body is written as it is given, even when it is longer,
//! because Envoy does so and a filter's mistake must show in the simulator too.

use host_sim_host::io::Headers;

use super::head::asks_to_close;

/// How the body of a message is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyEncoding {
    /// As it is.
    Plain,
    /// In chunks.
    Chunked,
    /// Not at all (`HEAD`; 204 and 304 without a length).
    Dropped,
}

/// What [`response_head`] wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenHead {
    /// How the body goes on.
    pub body: BodyEncoding,
    /// The connection ends with this message.
    pub close: bool,
}

/// What the writer decides by itself or what only concerned the other connection.
const OWN_HEADERS: [&[u8]; 4] = [
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"transfer-encoding",
];

/// Writes the head of a response; `to_head`: the method was `HEAD`; `close`: say that the connection ends.
pub fn response_head(
    out: &mut Vec<u8>,
    headers: &Headers,
    end_stream: bool,
    to_head: bool,
    close: bool,
) -> WrittenHead {
    let status = pseudo(headers, b":status")
        .and_then(|text| std::str::from_utf8(text).ok()?.parse::<u16>().ok());
    let status = status.unwrap_or(503);
    out.extend_from_slice(format!("HTTP/1.1 {status} {}\r\n", reason(status)).as_bytes());
    let close = close || asks_to_close(headers);
    let has_length = fields(out, headers);
    if close {
        out.extend_from_slice(b"connection: close\r\n");
    }
    let without_body = matches!(status, 204 | 304);
    let mut body = BodyEncoding::Plain;
    if without_body {
        // With a length it is written all the same, as Envoy does with a guest's answer.
        if !has_length {
            body = BodyEncoding::Dropped;
        }
    } else if status < 200 {
        // Nothing says where the body ends, if there is one.
    } else if !has_length && end_stream && !to_head {
        out.extend_from_slice(b"content-length: 0\r\n");
    } else if !has_length {
        // Also what an answer to HEAD says, whose length nobody knows.
        out.extend_from_slice(b"transfer-encoding: chunked\r\n");
        body = BodyEncoding::Chunked;
    }
    if to_head {
        body = BodyEncoding::Dropped;
    }
    out.extend_from_slice(b"\r\n");
    WrittenHead { body, close }
}

/// Writes the head of a request.
pub fn request_head(out: &mut Vec<u8>, headers: &Headers, end_stream: bool) -> BodyEncoding {
    let method = pseudo(headers, b":method").unwrap_or(b"GET");
    out.extend_from_slice(method);
    out.push(b' ');
    out.extend_from_slice(pseudo(headers, b":path").unwrap_or(b"/"));
    out.extend_from_slice(b" HTTP/1.1\r\n");
    if let Some(authority) = pseudo(headers, b":authority") {
        line(out, b"host", authority);
    }
    let has_length = fields(out, headers);
    let mut body = BodyEncoding::Plain;
    if !has_length
        && end_stream
        && !matches!(method, b"GET" | b"HEAD" | b"DELETE" | b"TRACE" | b"CONNECT")
    {
        out.extend_from_slice(b"content-length: 0\r\n");
    } else if !has_length && !end_stream {
        out.extend_from_slice(b"transfer-encoding: chunked\r\n");
        body = BodyEncoding::Chunked;
    }
    out.extend_from_slice(b"\r\n");
    body
}

/// Writes a piece of a body, and its end.
pub fn data(out: &mut Vec<u8>, encoding: BodyEncoding, data: &[u8], end_stream: bool) {
    match encoding {
        BodyEncoding::Dropped => {}
        BodyEncoding::Plain => out.extend_from_slice(data),
        BodyEncoding::Chunked => {
            if !data.is_empty() {
                out.extend_from_slice(format!("{:x}\r\n", data.len()).as_bytes());
                out.extend_from_slice(data);
                out.extend_from_slice(b"\r\n");
            }
            if end_stream {
                out.extend_from_slice(b"0\r\n\r\n");
            }
        }
    }
}

/// Ends a body with trailers, if there are chunks to put them behind.
pub fn trailers(out: &mut Vec<u8>, encoding: BodyEncoding, trailers: &Headers) {
    if encoding == BodyEncoding::Chunked {
        out.extend_from_slice(b"0\r\n");
        for (name, value) in trailers {
            line(out, name, value);
        }
        out.extend_from_slice(b"\r\n");
    }
}

/// All lines but pseudo headers and those the writer owns; whether a `content-length` is among them.
fn fields(out: &mut Vec<u8>, headers: &Headers) -> bool {
    let mut has_length = false;
    for (name, value) in headers {
        if name.starts_with(b":") || OWN_HEADERS.contains(&name.as_slice()) {
            continue;
        }
        has_length |= name == b"content-length" && is_line(value);
        line(out, name, value);
    }
    has_length
}

/// One header line, whatever is in it. Envoy looks at the head of a request before (see `wire.rs` of the
/// engine), but not at that of a response: there a filter can write lines by a value with a line break.
fn line(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.extend_from_slice(name);
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

fn is_line(bytes: &[u8]) -> bool {
    !bytes.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0))
}

fn pseudo<'a>(headers: &'a Headers, name: &[u8]) -> Option<&'a [u8]> {
    headers
        .iter()
        .find(|(key, value)| key == name && is_line(value))
        .map(|(_, value)| value.as_slice())
}

/// Reason phrases; workers and tools look at the number only.
fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Payload Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Entity",
        426 => "Upgrade Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        507 => "Insufficient Storage",
        _ => "Unknown",
    }
}
