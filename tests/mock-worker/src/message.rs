//! Requests as they came in, and the script of an answer.

use std::time::Duration;

use base64::Engine;
use serde_json::{Value, json};

/// Header lines in order, bytes as received or to be sent.
pub type Headers = Vec<(Vec<u8>, Vec<u8>)>;

/// One request, decoded from its framing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// `POST`
    pub method: String,
    /// Path and query as they stood in the request line.
    pub target: String,
    /// As received, case kept.
    pub headers: Headers,
    /// Without chunk framing.
    pub body: Vec<u8>,
    /// Header lines behind the last chunk, as received.
    pub trailers: Headers,
}

/// What arrived on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A whole request.
    Request(Request),
    /// A request whose body broke off.
    Cut(Request),
    /// Bytes where a request should begin, but which are none: what a wrong `content-length`
    /// in front of it leaves behind.
    Unparsable(Vec<u8>),
}

/// What arrived, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Number of the connection, from 1.
    pub connection: u64,
    /// What.
    pub seen: Seen,
}

/// One step of an answer, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Let this much time pass.
    Wait(Duration),
    /// Send nothing until the test says so.
    Hold,
    /// Send the head. The body is chunked unless there is a `content-length`.
    Head {
        /// Status.
        status: u16,
        /// Header lines.
        headers: Headers,
    },
    /// A piece of the body, sent at once and on its own.
    Data(Vec<u8>),
    /// The body is complete.
    End,
    /// The body is complete, and trailers follow.
    Trailers(Headers),
    /// Bytes on the wire without any framing.
    Raw(Vec<u8>),
    /// Send nothing more until the peer leaves.
    Stall,
    /// Close the connection in the ordinary way, whether the answer is complete or not.
    Close,
    /// Break the connection off (RST).
    Reset,
}

/// The first header of that name, in any case.
#[must_use]
pub fn header<'a>(headers: &'a [(Vec<u8>, Vec<u8>)], name: &str) -> Option<&'a [u8]> {
    headers
        .iter()
        .find(|(key, _)| key.eq_ignore_ascii_case(name.as_bytes()))
        .map(|(_, value)| value.as_slice())
}

impl Request {
    /// Path without the query.
    #[must_use]
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// The first header of that name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        header(&self.headers, name)
    }

    fn to_json(&self) -> Value {
        let headers: Vec<_> = self
            .headers
            .iter()
            .map(|(name, value)| json!([latin1(name), latin1(value)]))
            .collect();
        json!({
            "method": self.method,
            "path": self.target,
            "headers": headers,
            "body": base64(&self.body),
        })
    }
}

impl Recorded {
    /// For `GET /_mock/requests`. Header bytes appear as the characters of the same number
    /// (Latin-1), bodies in base64, so nothing is lost.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let (kind, mut value) = match &self.seen {
            Seen::Request(request) => ("request", request.to_json()),
            Seen::Cut(request) => ("cut", request.to_json()),
            Seen::Unparsable(bytes) => ("unparsable", json!({"bytes": base64(bytes)})),
        };
        value["kind"] = kind.into();
        value["connection"] = self.connection.into();
        value
    }
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

fn base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
