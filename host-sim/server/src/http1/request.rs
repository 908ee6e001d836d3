//! Requests of clients.

use host_sim_host::config::Http1;
use host_sim_host::io::Headers;

use super::body::{BadBody, Body, Framing};
use super::buffer::Buffer;
use super::forgive;
use super::head::{BadLength, Found, HeadScan, Length};
use super::head::{asks_to_close, headers_of, length_of, values};
use super::hop;
use super::line::{self, BadLine};
use super::target::{BadTarget, Target};

/// One thing that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestPart {
    /// The head.
    Head(RequestHead),
    /// All of the body that was there, over the borders of chunks.
    Data {
        /// May be empty when it only ends the request.
        data: Vec<u8>,
        /// The request is complete.
        end_stream: bool,
    },
    /// Trailers end the request.
    Trailers(Headers),
}

/// Head of a request as a worker wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHead {
    /// With `:method`, `:path`, `:scheme`, `:authority` in front, without what concerns the connection only.
    pub headers: Headers,
    /// No body follows.
    pub end_stream: bool,
    /// The client wants no further request on this connection.
    pub close: bool,
    /// The client waits for `100 Continue` before it sends the body.
    pub expect_continue: bool,
    /// The method is `HEAD`.
    pub is_head: bool,
}

/// Why a connection cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadRequest {
    /// To be answered by the connection manager.
    Refused {
        /// Status.
        status: u16,
        /// Envoy's name for the reason.
        details: &'static str,
    },
    /// The body of a request that is under way became unreadable.
    Body,
    /// Its trailers are too many or too large.
    Trailers {
        /// Envoy's name for the reason.
        details: &'static str,
    },
    /// The client speaks TLS.
    Tls,
    /// The client speaks HTTP/2.
    Http2,
}

/// Decoder of one connection's requests, one after the other.
#[derive(Debug)]
pub struct RequestDecoder {
    input: Buffer,
    state: State,
    options: Http1,
}

impl Default for RequestDecoder {
    fn default() -> Self {
        Self::new(Http1::CLIENTS)
    }
}

#[derive(Debug)]
enum State {
    Head(HeadScan),
    Body(Body),
    /// These have come behind the body.
    Trailers(Headers),
    /// What came behind the body was none.
    Broken(BadRequest),
    /// The rest of the input waits for [`RequestDecoder::start_next`].
    Complete,
}

impl Default for State {
    fn default() -> Self {
        State::Head(HeadScan::default())
    }
}

const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n";
/// Record type "handshake", major version 3.
const TLS_HELLO: &[u8] = &[0x16, 0x03];

const CODEC_ERROR: BadRequest = refused("http1.codec_error");
const HTTPS: BadRequest = BadRequest::Refused {
    status: 403,
    details: "http1.https_url_on_plaintext_connection",
};
const TOO_LARGE: BadRequest = BadRequest::Refused {
    status: 431,
    details: "http1.headers_too_large",
};
const TOO_MANY: BadRequest = BadRequest::Refused {
    status: 431,
    details: "http1.too_many_headers",
};
const OLD_VERSION: BadRequest = BadRequest::Refused {
    status: 426,
    details: "low_version",
};
const BAD_ENCODING: BadRequest = BadRequest::Refused {
    status: 501,
    details: "http1.invalid_transfer_encoding",
};
const CHARACTERS: BadRequest = refused("http1.invalid_characters");
const BODY: BadRequest = refused("http1.body_disallowed");
const TWO_LENGTHS: BadRequest = refused("http1.content_length_and_chunked_not_allowed");

impl RequestDecoder {
    /// With these bounds.
    #[must_use]
    pub fn new(options: Http1) -> Self {
        RequestDecoder {
            input: Buffer::default(),
            state: State::default(),
            options,
        }
    }

    /// Adds what was read.
    pub fn push(&mut self, bytes: &[u8]) {
        self.input.push(bytes);
    }

    /// Bytes that wait to be decoded.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.input.len()
    }

    /// No request has begun.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        matches!(self.state, State::Head(_)) && self.input.is_empty()
    }

    /// A whole request was read, and the next one is not begun.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self.state, State::Complete)
    }

    /// The answer to a complete request is out: look at the next one.
    pub fn start_next(&mut self) {
        self.state = State::default();
    }

    /// The next part, if enough was read.
    ///
    /// # Errors
    /// The connection is of no use any more.
    pub fn next_part(&mut self) -> Result<Option<RequestPart>, BadRequest> {
        match &mut self.state {
            State::Complete => Ok(None),
            State::Head(_) => self.head(),
            State::Body(body) => {
                let mut data = Vec::new();
                let decoded = body.decode(&mut self.input, &mut data);
                let trailers = match decoded {
                    Ok(()) if body.is_done() => body.trailers(self.options.header_limit),
                    Ok(()) => {
                        let end_stream = false;
                        let any = !data.is_empty();
                        return Ok(any.then_some(RequestPart::Data { data, end_stream }));
                    }
                    Err(bad) => Err(bad),
                };
                let trailers = match trailers {
                    Ok(trailers) => trailers,
                    Err(BadBody::Chunk) => return Err(BadRequest::Body),
                    // The body itself is good.
                    Err(bad) => {
                        self.state = State::Broken(of_trailers(bad));
                        let end_stream = false;
                        return Ok(Some(RequestPart::Data { data, end_stream }));
                    }
                };
                let end_stream = trailers.is_empty();
                self.state = if end_stream {
                    State::Complete
                } else {
                    State::Trailers(trailers)
                };
                if data.is_empty() && !end_stream {
                    return Ok(self.trailers());
                }
                Ok(Some(RequestPart::Data { data, end_stream }))
            }
            State::Trailers(_) => Ok(self.trailers()),
            State::Broken(bad) => Err(*bad),
        }
    }

    fn trailers(&mut self) -> Option<RequestPart> {
        match std::mem::replace(&mut self.state, State::Complete) {
            State::Trailers(trailers) => Some(RequestPart::Trailers(trailers)),
            _ => None,
        }
    }

    fn head(&mut self) -> Result<Option<RequestPart>, BadRequest> {
        let State::Head(scan) = &mut self.state else {
            return Ok(None);
        };
        let skipped = self
            .input
            .bytes()
            .iter()
            .take_while(|byte| matches!(byte, b'\r' | b'\n'))
            .count();
        if skipped > 0 {
            // Empty lines between requests are allowed.
            self.input.consume(skipped);
            *scan = HeadScan::default();
        }
        let bytes = self.input.bytes();
        if bytes.starts_with(TLS_HELLO) {
            return Err(BadRequest::Tls);
        }
        if bytes.starts_with(HTTP2_PREFACE) {
            return Err(BadRequest::Http2);
        }
        let end = match scan.look(&self.input) {
            Found::End(end) if end <= self.options.head_limit_bytes => end,
            Found::Line(end) if bytes.len() <= self.options.head_limit_bytes => {
                parse(
                    bytes.get(..end).unwrap_or_default(),
                    self.options.header_limit,
                )?;
                return Ok(None);
            }
            Found::Nothing if bytes.len() <= self.options.head_limit_bytes => return Ok(None),
            _ => return Err(TOO_LARGE),
        };
        let (head, framing) = parse(
            bytes.get(..end).unwrap_or_default(),
            self.options.header_limit,
        )?
        .ok_or(CODEC_ERROR)?;
        self.input.consume(end);
        self.state = if head.end_stream {
            State::Complete
        } else {
            State::Body(Body::new(framing).with_trailers(self.options.trailers))
        };
        Ok(Some(RequestPart::Head(head)))
    }
}

/// A head with its empty line, or the beginning of one to look for errors.
fn parse(bytes: &[u8], header_limit: usize) -> Result<Option<(RequestHead, Framing)>, BadRequest> {
    let bytes = &*forgive::straighten(bytes);
    let first = bytes.split(|byte| *byte == b'\n').next();
    line::check(first.unwrap_or_default()).map_err(|bad| match bad {
        BadLine::Version => OLD_VERSION,
        BadLine::Malformed => CODEC_ERROR,
        BadLine::Character => CHARACTERS,
    })?;
    let mut lines = vec![httparse::EMPTY_HEADER; header_limit];
    let mut request = httparse::Request::new(&mut lines);
    match request.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(TOO_MANY),
        Err(httparse::Error::HeaderValue) => return Err(CHARACTERS),
        Err(_) => return Err(CODEC_ERROR),
    }
    let method = request.method.unwrap_or_default();
    let mut fields = headers_of(request.headers);
    let other_protocol = method == "CONNECT" || hop::asks_to_upgrade(&fields);
    let framing = match length_of(&fields) {
        Ok(Length::Chunked) if method == "CONNECT" => return Err(BAD_ENCODING),
        Ok(Length::Bytes(1..)) if method == "CONNECT" => return Err(BODY),
        // Whatever comes is of another protocol.
        Ok(_) if other_protocol => Framing::UntilClose,
        Ok(Length::Chunked) => Framing::Chunked,
        Ok(Length::Bytes(0) | Length::Unsaid) => Framing::Empty,
        Ok(Length::Bytes(length)) => Framing::Length(length),
        Err(BadLength::Both) => return Err(TWO_LENGTHS),
        Err(BadLength::Encoding) => return Err(BAD_ENCODING),
        Err(BadLength::Number) => return Err(CODEC_ERROR),
    };
    let close = asks_to_close(&fields);
    // Envoy takes no list here.
    let expect_continue =
        values(&fields, b"expect").any(|value| value.eq_ignore_ascii_case(b"100-continue"));
    if !hop::asks_to_upgrade(&fields) {
        hop::remove(&mut fields).map_err(|_| refused("http1.connection_header_rejected"))?;
    }
    let target =
        Target::of(method, request.path.unwrap_or_default(), &fields).map_err(bad_target)?;
    fields.retain(|(name, _)| name != b"host" && !(expect_continue && name == b"expect"));
    let mut headers = target.into_headers(method);
    headers.append(&mut fields);
    let end_stream = framing == Framing::Empty;
    let head = RequestHead {
        headers,
        end_stream,
        close,
        expect_continue,
        is_head: method == "HEAD",
    };
    Ok(Some((head, framing)))
}

fn of_trailers(bad: BadBody) -> BadRequest {
    match bad {
        BadBody::Chunk | BadBody::TrailerName => BadRequest::Body,
        BadBody::TrailersTooLarge => BadRequest::Trailers {
            details: "http1.headers_too_large",
        },
        BadBody::TooManyTrailers => BadRequest::Trailers {
            details: "http1.too_many_headers",
        },
    }
}

fn bad_target(bad: BadTarget) -> BadRequest {
    match bad {
        BadTarget::Malformed => CODEC_ERROR,
        BadTarget::Url => refused("http1.invalid_url"),
        BadTarget::Https => HTTPS,
        BadTarget::Scheme => refused("http1.invalid_scheme"),
        BadTarget::Authority => refused("http.invalid_authority"),
    }
}

const fn refused(details: &'static str) -> BadRequest {
    BadRequest::Refused {
        status: 400,
        details,
    }
}
