//! What comes from a worker, as calls and streams understand it.

use super::status::{INTERNAL, OK, RESOURCE_EXHAUSTED, UNKNOWN, of_http, of_trailers};
use super::{Exchange, Notice, STREAM, kind};
use crate::engine::Engine;
use crate::grpc::frames::FrameError;
use crate::headers;
use crate::io::Headers;
use crate::stream::StreamKey;

/// The status of a good answer.
const HTTP_OK: u16 = 200;

impl Exchange {
    fn is_stream(&self) -> bool {
        kind(self.ear.token) == STREAM
    }
}

impl Engine {
    /// The head; all there is of an answer that is an error, or of one of Envoy's own.
    pub(crate) fn grpc_headers(&mut self, number: u64, head: Headers, end: bool) {
        let http = headers::status(&head);
        let plain = http == HTTP_OK && !end;
        let initial = if plain { head.clone() } else { Headers::new() };
        if let Some(exchange) = self
            .exchanges
            .get(&number)
            .filter(|exchange| exchange.is_stream())
        {
            self.tell(exchange.ear, number, Notice::Initial(initial));
        }
        if http != HTTP_OK && !(end && of_trailers(&head).is_some()) {
            self.grpc_error(number, of_http(http));
        } else if end {
            self.grpc_trailers(number, head);
        }
    }

    /// A piece of the body. An answer may not end with it.
    pub(crate) fn grpc_data(&mut self, number: u64, data: &[u8], end: bool) {
        let Some(exchange) = self.exchanges.get_mut(&number) else {
            return;
        };
        let frames = match exchange.deframer.push(data) {
            Ok(frames) => frames,
            Err(FrameError::Flag) => return self.grpc_error(number, INTERNAL),
            Err(FrameError::TooLarge) => return self.grpc_error(number, RESOURCE_EXHAUSTED),
        };
        for frame in frames {
            let Some(exchange) = self.exchanges.get_mut(&number) else {
                return;
            };
            if frame.compressed && !frame.message.is_empty() {
                return self.grpc_error(number, INTERNAL);
            }
            if exchange.is_stream() {
                let ear = exchange.ear;
                self.tell(ear, number, Notice::Message(frame.message));
            } else {
                exchange.message = Some(frame.message);
            }
        }
        if end {
            self.grpc_error(number, UNKNOWN);
        }
    }

    pub(crate) fn grpc_trailers(&mut self, number: u64, trailers: Headers) {
        let status = of_trailers(&trailers).unwrap_or(UNKNOWN);
        let message = headers::get(&trailers, b"grpc-message").unwrap_or_default();
        let message = message.to_vec();
        self.worker_closed(number, trailers, status, message);
    }

    /// The answer breaks off, or is none.
    pub(crate) fn grpc_error(&mut self, number: u64, status: u32) {
        self.worker_closed(number, Headers::new(), status, Vec::new());
    }

    /// The worker's side has ended, and with it the request, whatever the guest still had to say.
    fn worker_closed(&mut self, number: u64, trailers: Headers, status: u32, message: Vec<u8>) {
        let key = StreamKey::Callout(number);
        let details = self
            .streams
            .get(&key)
            .and_then(|stream| stream.info.details.clone());
        self.finish_stream(key);
        let Some(exchange) = self.exchanges.remove(&number) else {
            return;
        };
        let close = |message: Vec<u8>| Notice::Close { status, message };
        let explained = with_details(message, details.as_deref().unwrap_or_default());
        if exchange.is_stream() {
            self.tell(exchange.ear, number, Notice::Trailing(trailers));
            self.tell(exchange.ear, number, close(explained));
            return;
        }
        let end = match (status, exchange.message) {
            (OK, Some(message)) => Notice::Message(message),
            // A call that is answered by nothing.
            (OK, None) => Notice::Close {
                status: INTERNAL,
                message: Vec::new(),
            },
            _ => close(explained),
        };
        self.tell(exchange.ear, number, end);
    }
}

/// What the worker said, and in braces what became of the request in Envoy's words.
fn with_details(message: Vec<u8>, details: &str) -> Vec<u8> {
    if details.is_empty() {
        return message;
    }
    if message.is_empty() {
        return details.as_bytes().to_vec();
    }
    [&*message, b"{", details.as_bytes(), b"}"].concat()
}
