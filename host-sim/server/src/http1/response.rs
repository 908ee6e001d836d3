//! Responses of workers.

use host_sim_host::config::Http1;
use host_sim_host::io::Headers;

use super::body::{Body, Framing};
use super::buffer::Buffer;
use super::forgive;
use super::head::{Found, HeadScan, Length};
use super::head::{asks_to_close, has_token, headers_of, length_of};

/// One thing that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResponsePart {
    /// The head, `:status` in front.
    Head {
        /// As they came, names in lower case.
        headers: Headers,
        /// No body follows.
        end_stream: bool,
    },
    /// All of the body that was there, over the borders of chunks.
    Data {
        /// May be empty when it only ends the response.
        data: Vec<u8>,
        /// The response is complete.
        end_stream: bool,
    },
    /// Trailers end the response.
    Trailers(Headers),
}

/// The bytes are not an HTTP/1 response to this request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotHttp;

/// Decoder of one response.
#[derive(Debug)]
pub struct ResponseDecoder {
    input: Buffer,
    state: State,
    to_head: bool,
    close: bool,
    started: bool,
    options: Http1,
}

#[derive(Debug)]
enum State {
    Head(HeadScan),
    Body(Body),
    /// These have come behind the body.
    Trailers(Headers),
    Complete,
}

impl ResponseDecoder {
    /// For the answer to one request; `to_head`: its method is `HEAD`.
    #[must_use]
    pub fn new(to_head: bool, options: Http1) -> Self {
        let state = State::Head(HeadScan::default());
        ResponseDecoder {
            input: Buffer::default(),
            state,
            to_head,
            close: false,
            started: false,
            options,
        }
    }

    /// Adds what was read.
    pub fn push(&mut self, bytes: &[u8]) {
        self.started |= !bytes.is_empty();
        self.input.push(bytes);
    }

    /// Any byte was read.
    #[must_use]
    pub fn has_started(&self) -> bool {
        self.started
    }

    /// The whole response was read.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self.state, State::Complete)
    }

    /// The connection may carry another request: complete, kept by the worker, and nothing behind the end.
    #[must_use]
    pub fn may_reuse(&self) -> bool {
        self.is_complete() && !self.close && self.input.is_empty()
    }

    /// The next part, if enough was read.
    ///
    /// # Errors
    /// It is not HTTP.
    pub fn next_part(&mut self) -> Result<Option<ResponsePart>, NotHttp> {
        match &mut self.state {
            State::Complete => Ok(None),
            State::Head(_) => self.head(),
            State::Body(body) => {
                let mut data = Vec::new();
                body.decode(&mut self.input, &mut data)
                    .map_err(|_| NotHttp)?;
                if !body.is_done() {
                    let end_stream = false;
                    let any = !data.is_empty();
                    return Ok(any.then_some(ResponsePart::Data { data, end_stream }));
                }
                let trailers = body.trailers(self.options.header_limit);
                let trailers = trailers.map_err(|_| NotHttp)?;
                let end_stream = trailers.is_empty();
                self.state = if end_stream {
                    State::Complete
                } else {
                    State::Trailers(trailers)
                };
                if data.is_empty() && !end_stream {
                    return Ok(self.trailers());
                }
                Ok(Some(ResponsePart::Data { data, end_stream }))
            }
            State::Trailers(_) => Ok(self.trailers()),
        }
    }

    fn trailers(&mut self) -> Option<ResponsePart> {
        match std::mem::replace(&mut self.state, State::Complete) {
            State::Trailers(trailers) => Some(ResponsePart::Trailers(trailers)),
            _ => None,
        }
    }

    /// The worker closed the connection; the last part, if that is how this response ends.
    pub fn connection_ended(&mut self) -> Option<ResponsePart> {
        match &self.state {
            State::Body(body) if body.ends_with_connection() => {
                self.state = State::Complete;
                Some(ResponsePart::Data {
                    data: Vec::new(),
                    end_stream: true,
                })
            }
            _ => None,
        }
    }

    /// Skips `1xx` heads, all of them bounded by the limit of one head each.
    fn head(&mut self) -> Result<Option<ResponsePart>, NotHttp> {
        let (options, to_head) = (self.options, self.to_head);
        let parse = |bytes: &[u8]| parse(bytes, to_head, options.header_limit);
        loop {
            let State::Head(scan) = &mut self.state else {
                return Ok(None);
            };
            let bytes = self.input.bytes();
            let end = match scan.look(&self.input) {
                Found::End(end) if end <= options.head_limit_bytes => end,
                _ if bytes.len() > options.head_limit_bytes => return Err(NotHttp),
                Found::End(end) | Found::Line(end) => {
                    parse(bytes.get(..end).unwrap_or_default())?;
                    return Ok(None);
                }
                Found::Nothing => {
                    // Garbage may hold no line at all: a look at the first bytes costs little.
                    let first = bytes.len().min(FIRST_BYTES);
                    parse(bytes.get(..first).unwrap_or_default())?;
                    return Ok(None);
                }
            };
            let head = parse(bytes.get(..end).unwrap_or_default())?.ok_or(NotHttp)?;
            self.input.consume(end);
            self.state = State::Head(HeadScan::default());
            if is_skipped(head.status) {
                continue;
            }
            self.close = head.close;
            // The end of what follows another protocol's head comes by itself.
            let end_stream = head.framing == Framing::Empty && head.status != SWITCHING_PROTOCOLS;
            self.state = if end_stream {
                State::Complete
            } else {
                State::Body(Body::new(head.framing).with_trailers(options.trailers))
            };
            return Ok(Some(ResponsePart::Head {
                headers: head.headers,
                end_stream,
            }));
        }
    }
}

/// As long as a status line is at least; up to here a partial head is checked at each read.
const FIRST_BYTES: usize = 64;

/// Nobody here asks for another protocol, but Envoy takes the answer all the same, as one without a body.
const SWITCHING_PROTOCOLS: u16 = 101;

/// An answer before the answer, of which neither filters nor clients learn.
fn is_skipped(status: u16) -> bool {
    (100..200).contains(&status) && status != SWITCHING_PROTOCOLS
}

struct Head {
    status: u16,
    headers: Headers,
    framing: Framing,
    close: bool,
}

/// A head with its empty line, or the beginning of one to look for errors.
fn parse(bytes: &[u8], to_head: bool, header_limit: usize) -> Result<Option<Head>, NotHttp> {
    if bytes.starts_with(b"\r") || bytes.starts_with(b"\n") {
        // Between requests empty lines are forgiven, here they are not.
        return Err(NotHttp);
    }
    let bytes = &*forgive::straighten(bytes);
    let mut lines = vec![httparse::EMPTY_HEADER; header_limit];
    let mut response = httparse::Response::new(&mut lines);
    match response.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(NotHttp),
    }
    let status = response.code.ok_or(NotHttp)?;
    let old = response.version == Some(0);
    let mut fields = headers_of(response.headers);
    let length = length_of(&fields).map_err(|_| NotHttp)?;
    let without_body = (100..200).contains(&status);
    if without_body || status == 204 {
        // There may be no length, but one of zero is forgiven.
        if !matches!(length, Length::Unsaid | Length::Bytes(0)) {
            return Err(NotHttp);
        }
        fields.retain(|(name, _)| name != b"content-length");
    }
    let framing = match length {
        _ if to_head || without_body || matches!(status, 204 | 304) => Framing::Empty,
        Length::Chunked => Framing::Chunked,
        Length::Bytes(0) => Framing::Empty,
        Length::Bytes(length) => Framing::Length(length),
        Length::Unsaid => Framing::UntilClose,
    };
    let kept_old = old && has_token(&fields, b"connection", b"keep-alive");
    let close = framing == Framing::UntilClose
        || status == SWITCHING_PROTOCOLS
        || asks_to_close(&fields)
        || (old && !kept_old);
    let mut headers: Headers = vec![(b":status".to_vec(), status.to_string().into_bytes())];
    headers.append(&mut fields);
    Ok(Some(Head {
        status,
        headers,
        framing,
        close,
    }))
}
