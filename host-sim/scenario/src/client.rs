//! Requests of clients, and what they get.

use std::time::Duration;

use host_sim_host::io::Headers;

/// A request to be sent. Every method returns it changed, so that it reads as a sentence.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Headers,
    pub(crate) pieces: Vec<Vec<u8>>,
    pub(crate) has_body: bool,
    pub(crate) with_length: bool,
    pub(crate) complete: bool,
    pub(crate) pause: Duration,
    pub(crate) at: Option<Duration>,
    pub(crate) thread: Option<usize>,
    pub(crate) listener: usize,
    pub(crate) patience: Option<Duration>,
}

/// Names a request of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub(crate) usize);

/// How a response ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// It has not yet.
    #[default]
    Pending,
    /// As it should, at this time.
    Complete(Duration),
    /// Broken off by the gateway, at this time.
    Broken(Duration),
    /// The client left at this time.
    Left(Duration),
}

/// What a client got.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// Time of the head.
    pub started: Option<Duration>,
    /// 0 before the head.
    pub status: u16,
    /// Without pseudo headers.
    pub headers: Headers,
    /// Pieces of the body and when they came.
    pub pieces: Vec<(Duration, Vec<u8>)>,
    /// The end.
    pub end: End,
}

impl Request {
    /// Without a body.
    #[must_use]
    pub fn get(path: &str) -> Self {
        Request {
            method: "GET".to_owned(),
            path: path.to_owned(),
            headers: Headers::new(),
            pieces: Vec::new(),
            has_body: false,
            with_length: true,
            complete: true,
            pause: Duration::ZERO,
            at: None,
            thread: None,
            listener: 0,
            patience: None,
        }
    }

    /// With a JSON body in one piece and its `content-length`.
    #[must_use]
    pub fn post(path: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![(b"content-type".to_vec(), b"application/json".to_vec())];
        Request {
            method: "POST".to_owned(),
            headers,
            pieces: vec![body.into()],
            has_body: true,
            ..Self::get(path)
        }
    }

    /// With a body in one piece and its `content-length`, and no word of what it is.
    #[must_use]
    pub fn with_body(path: &str, body: Vec<u8>) -> Self {
        Request {
            method: "POST".to_owned(),
            pieces: vec![body],
            has_body: true,
            ..Self::get(path)
        }
    }

    /// With another method.
    #[must_use]
    pub fn method(mut self, method: &str) -> Self {
        method.clone_into(&mut self.method);
        self
    }

    /// One more header line; the name is in lower case.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers
            .push((name.as_bytes().to_vec(), value.as_bytes().to_vec()));
        self
    }

    /// The body comes in pieces, cut at these offsets in rising order.
    #[must_use]
    pub fn cut(mut self, offsets: &[usize]) -> Self {
        let body = self.pieces.concat();
        let mut start = 0;
        self.pieces = Vec::new();
        for end in offsets.iter().copied().chain([body.len()]) {
            let end = end.clamp(start, body.len());
            self.pieces
                .push(body.get(start..end).unwrap_or_default().to_vec());
            start = end;
        }
        self
    }

    /// Time between the pieces of the body, and between the head and the first.
    #[must_use]
    pub fn pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// In chunks, without `content-length`.
    #[must_use]
    pub fn chunked(mut self) -> Self {
        self.with_length = false;
        self
    }

    /// The end of the body never comes.
    #[must_use]
    pub fn unfinished(mut self) -> Self {
        self.complete = false;
        self
    }

    /// Sent at this time instead of now.
    #[must_use]
    pub fn at(mut self, at: Duration) -> Self {
        self.at = Some(at);
        self
    }

    /// Served by this worker thread; otherwise threads take turns.
    #[must_use]
    pub fn on_thread(mut self, thread: usize) -> Self {
        self.thread = Some(thread);
        self
    }

    /// Comes in at this listener, counted from 0 in the order of the configuration.
    #[must_use]
    pub fn on_listener(mut self, listener: usize) -> Self {
        self.listener = listener;
        self
    }

    /// The client leaves this long after it sent the head, unless the response is complete.
    #[must_use]
    pub fn leaves_after(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }

    /// The head as a worker thread gets it.
    pub(crate) fn head(&self) -> Headers {
        let pseudo =
            |name: &str, value: &str| (name.as_bytes().to_vec(), value.as_bytes().to_vec());
        let mut headers = vec![
            pseudo(":authority", "gateway.test"),
            pseudo(":path", &self.path),
            pseudo(":method", &self.method),
            pseudo(":scheme", "http"),
        ];
        headers.extend(self.headers.iter().cloned());
        if self.has_body && self.with_length {
            let length: usize = self.pieces.iter().map(Vec::len).sum();
            headers.push(pseudo("content-length", &length.to_string()));
        }
        headers
    }
}

impl Response {
    /// The body so far.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        self.pieces
            .iter()
            .flat_map(|(_, piece)| piece.iter().copied())
            .collect()
    }

    /// The body so far as text; bytes that are none are replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body()).into_owned()
    }

    /// The first header of that name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let value = mock_worker::header(&self.headers, name)?;
        std::str::from_utf8(value).ok()
    }

    /// All was received.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self.end, End::Complete(_))
    }
}
