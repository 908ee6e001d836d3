//! One attempt or callout as its connection sees it.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use host_sim_host::config::Http1;
use host_sim_host::io::{Headers, UpstreamId};
use tokio::sync::Notify;

use crate::client::Client;
use crate::http1::buffer::Buffer;
use crate::http1::encode::{self, BodyEncoding};

/// Request bytes that may wait for a slow worker before the client is not read any more.
pub const REQUEST_BUFFER_LIMIT_BYTES: usize = 256 * 1024;

/// The side of an attempt that the simulated worker writes to.
#[derive(Debug)]
pub struct Attempt {
    /// Chosen by the simulated worker.
    pub id: UpstreamId,
    /// Wakes the connection: there is something to write, to read again, or to break off.
    pub wake: Notify,
    /// What waits to be written.
    pub out: RefCell<Buffer>,
    client: Option<Weak<Client>>,
    /// Over HTTP/2 the head waits here, and `out` holds the bare body.
    http2: bool,
    http1: Http1,
    /// Over HTTP/2: what comes behind the body.
    trailers: RefCell<Option<Headers>>,
    head: RefCell<Option<(Headers, bool)>>,
    body: Cell<Option<BodyEncoding>>,
    to_head: Cell<bool>,
    complete: Cell<bool>,
    ended: Cell<bool>,
}

impl Attempt {
    /// `client` is whose request it serves; `None` for a callout.
    #[must_use]
    pub fn new(id: UpstreamId, client: Option<&Rc<Client>>, http2: bool, http1: Http1) -> Rc<Self> {
        Rc::new(Attempt {
            id,
            wake: Notify::new(),
            out: RefCell::default(),
            client: client.map(Rc::downgrade),
            http2,
            http1,
            trailers: RefCell::default(),
            head: RefCell::default(),
            body: Cell::new(None),
            to_head: Cell::new(false),
            complete: Cell::new(false),
            ended: Cell::new(false),
        })
    }

    /// Writes the head of the request.
    pub fn headers(&self, headers: &Headers, end_stream: bool) {
        if self.http2 {
            self.head.replace(Some((headers.clone(), end_stream)));
            self.body.set(Some(BodyEncoding::Plain));
        } else {
            let body = encode::request_head(self.out.borrow_mut().end(), headers, end_stream);
            self.body.set(Some(body));
        }
        self.to_head.set(
            headers
                .iter()
                .any(|(name, value)| name == b":method" && value == b"HEAD"),
        );
        self.complete.set(end_stream);
        self.wake.notify_one();
    }

    /// Writes a piece of the body.
    pub fn data(&self, data: &[u8], end_stream: bool) {
        let Some(body) = self.body.get() else { return };
        encode::data(self.out.borrow_mut().end(), body, data, end_stream);
        self.complete.set(self.complete.get() || end_stream);
        self.wake.notify_one();
    }

    /// Writes the trailers, which end the request.
    pub fn trailers(&self, trailers: Headers) {
        let Some(body) = self.body.get() else { return };
        if self.http2 {
            self.trailers.replace(Some(trailers));
        } else if self.http1.trailers {
            encode::trailers(self.out.borrow_mut().end(), body, &trailers);
        } else {
            encode::data(self.out.borrow_mut().end(), body, &[], true);
        }
        self.complete.set(true);
        self.wake.notify_one();
    }

    /// What the cluster says about HTTP/1.1.
    #[must_use]
    pub fn http1(&self) -> Http1 {
        self.http1
    }

    /// Over HTTP/2: the trailers, once all of the body has been taken.
    pub fn take_trailers(&self) -> Option<Headers> {
        let all = self.complete.get() && self.out.borrow().is_empty();
        all.then(|| self.trailers.take()).flatten()
    }

    /// Over HTTP/2: the head, once it is there, and whether it is all of the request; `None`: the
    /// attempt ended before.
    pub async fn head(&self) -> Option<(Headers, bool)> {
        while !self.has_ended() {
            if let Some(head) = self.head.take() {
                return Some(head);
            }
            self.wake.notified().await;
        }
        None
    }

    /// Over HTTP/2: the next piece of the body of at most `room` bytes, and whether the request ends with it.
    pub fn piece(&self, room: usize) -> Option<(Vec<u8>, bool)> {
        let mut out = self.out.borrow_mut();
        let count = room.min(out.len());
        let piece = out.bytes().get(..count).unwrap_or_default().to_vec();
        out.consume(count);
        let end = self.complete.get() && out.is_empty() && self.trailers.borrow().is_none();
        (end || !piece.is_empty()).then_some((piece, end))
    }

    /// Until it has ended.
    pub async fn ended(&self) {
        while !self.has_ended() {
            self.wake.notified().await;
        }
    }

    /// It is over: no event of it is wanted, and it keeps no client waiting.
    pub fn end(&self) {
        self.ended.set(true);
        self.wake.notify_one();
        self.wake_client();
    }

    /// See [`Attempt::end`].
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended.get()
    }

    /// The method is `HEAD`.
    #[must_use]
    pub fn is_to_head(&self) -> bool {
        self.to_head.get()
    }

    /// The whole request was written to the socket.
    #[must_use]
    pub fn is_sent(&self) -> bool {
        self.complete.get() && self.out.borrow().is_empty()
    }

    /// The worker takes its request too slowly.
    #[must_use]
    pub fn is_slow(&self) -> bool {
        !self.ended.get() && self.out.borrow().len() > REQUEST_BUFFER_LIMIT_BYTES
    }

    /// The client takes its response too slowly.
    #[must_use]
    pub fn has_slow_client(&self) -> bool {
        self.client
            .as_ref()
            .and_then(Weak::upgrade)
            .is_some_and(|client| client.is_slow())
    }

    /// The worker took bytes: the client may be read again.
    pub fn wake_client(&self) {
        if let Some(client) = self.client.as_ref().and_then(Weak::upgrade) {
            client.wake.notify_one();
        }
    }
}
