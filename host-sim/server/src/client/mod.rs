//! Connections of clients.

pub mod connection;
pub mod linger;

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use host_sim_host::io::Headers;
use tokio::sync::Notify;

use crate::http1::buffer::Buffer;
use crate::http1::encode::{self, BodyEncoding};
use crate::upstream::attempt::Attempt;

/// Response bytes that may wait for a slow client before its worker is not read any more. Enough
/// to fill a fast connection; a thousand stuck clients hold a quarter of a gigabyte at most.
pub const RESPONSE_BUFFER_LIMIT_BYTES: usize = 256 * 1024;

/// Where the response to the present request stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reply {
    /// There is no request.
    #[default]
    None,
    /// Nothing was written.
    Waiting,
    /// The head was written.
    Started(BodyEncoding),
    /// All was written.
    Complete,
    /// The response will never be complete.
    Broken,
}

/// What the response depends on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exchange {
    /// The method is `HEAD`.
    pub to_head: bool,
    /// The connection ends with the response.
    pub close: bool,
}

/// The side of a client's connection that the worker writes to.
#[derive(Debug, Default)]
pub struct Client {
    /// Wakes the connection: there is something to write, or to read again.
    pub wake: Notify,
    /// What waits to be written.
    pub out: RefCell<Buffer>,
    reply: Cell<Reply>,
    exchange: Cell<Exchange>,
    /// The listener writes trailers.
    trailers: bool,
    /// All of the request was read.
    request_complete: Cell<bool>,
    attempts: RefCell<Vec<Weak<Attempt>>>,
}

impl Client {
    /// Of a connection whose listener writes trailers, or drops them.
    #[must_use]
    pub fn new(trailers: bool) -> Self {
        Client {
            trailers,
            ..Client::default()
        }
    }

    /// A request begins.
    pub fn begin(&self, exchange: Exchange) {
        self.exchange.set(exchange);
        self.reply.set(Reply::Waiting);
        self.request_complete.set(false);
        self.attempts.borrow_mut().clear();
    }

    /// All of the request was read: the connection may go on after the response.
    pub fn request_is_complete(&self) {
        self.request_complete.set(true);
    }

    /// Where the response stands.
    #[must_use]
    pub fn reply(&self) -> Reply {
        self.reply.get()
    }

    /// The connection ends with this response.
    #[must_use]
    pub fn closes(&self) -> bool {
        self.exchange.get().close
    }

    /// The response is out; the next request may begin.
    pub fn finish(&self) {
        self.reply.set(Reply::None);
    }

    /// Writes the head of the response. Before the request is complete it announces the end of
    /// the connection: nobody knows how much of the request is still to come.
    pub fn headers(&self, headers: &Headers, end_stream: bool) {
        if self.reply.get() != Reply::Waiting {
            return;
        }
        let Exchange { to_head, close } = self.exchange.get();
        let close = close || !self.request_complete.get();
        let head = encode::response_head(
            self.out.borrow_mut().end(),
            headers,
            end_stream,
            to_head,
            close,
        );
        self.exchange.set(Exchange {
            to_head,
            close: head.close,
        });
        self.reply.set(if end_stream {
            Reply::Complete
        } else {
            Reply::Started(head.body)
        });
        self.wake.notify_one();
    }

    /// Ends the body with trailers.
    pub fn trailers(&self, trailers: &Headers) {
        let Reply::Started(encoding) = self.reply.get() else {
            return;
        };
        if !self.trailers {
            return self.data(&[], true);
        }
        encode::trailers(self.out.borrow_mut().end(), encoding, trailers);
        self.reply.set(Reply::Complete);
        self.wake.notify_one();
    }

    /// Writes a piece of the body.
    pub fn data(&self, data: &[u8], end_stream: bool) {
        let Reply::Started(encoding) = self.reply.get() else {
            return;
        };
        encode::data(self.out.borrow_mut().end(), encoding, data, end_stream);
        if end_stream {
            self.reply.set(Reply::Complete);
        }
        self.wake.notify_one();
    }

    /// Ends the connection after what was written so far.
    pub fn break_off(&self) {
        if self.reply.get() != Reply::Complete {
            self.reply.set(Reply::Broken);
        }
        self.wake.notify_one();
    }

    /// An attempt serves the present request.
    pub fn add_attempt(&self, attempt: &Rc<Attempt>) {
        let mut attempts = self.attempts.borrow_mut();
        attempts.retain(|attempt| attempt.strong_count() > 0);
        attempts.push(Rc::downgrade(attempt));
    }

    /// The client takes its response too slowly: its worker must not be read.
    #[must_use]
    pub fn is_slow(&self) -> bool {
        self.out.borrow().len() > RESPONSE_BUFFER_LIMIT_BYTES
    }

    /// A worker takes the request too slowly: the client must not be read.
    #[must_use]
    pub fn has_slow_attempt(&self) -> bool {
        self.attempts
            .borrow()
            .iter()
            .filter_map(Weak::upgrade)
            .any(|attempt| attempt.is_slow())
    }

    /// The client took bytes: its workers may be read again.
    pub fn wake_attempts(&self) {
        for attempt in self.attempts.borrow().iter().filter_map(Weak::upgrade) {
            attempt.wake.notify_one();
        }
    }
}
