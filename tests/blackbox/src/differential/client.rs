//! The client's side, written down as it happens.

use std::fmt::Write;
use std::time::{Duration, Instant};

use crate::client::{Connection, Head, Piece, Response, Rest, request};
use crate::world::World;

/// Longest wait for a line of a guest's.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(5);

/// Sends requests and keeps what came back.
pub struct Client<'a> {
    world: &'a World,
    pub(super) transcript: Vec<String>,
    pub(super) responses: Vec<Response>,
    /// Requests of which the access log will speak.
    pub(super) logged: usize,
}

/// A connection on which a test speaks byte by byte.
pub struct Talk {
    name: String,
    connection: Connection,
    rest: Option<Rest>,
}

impl<'a> Client<'a> {
    pub(super) fn new(world: &'a World) -> Self {
        Self {
            world,
            transcript: Vec::new(),
            responses: Vec::new(),
            logged: 0,
        }
    }

    /// The gateway and its workers.
    #[must_use]
    pub fn world(&self) -> &World {
        self.world
    }

    /// A `GET`.
    pub fn get(&mut self, target: &str) -> Response {
        self.request("GET", target, &[], b"")
    }

    /// A `POST` of text.
    pub fn post(&mut self, target: &str, body: &str) -> Response {
        self.request("POST", target, &[], body.as_bytes())
    }

    /// A request on a connection of its own.
    pub fn request(
        &mut self,
        method: &str,
        target: &str,
        headers: &[&str],
        body: &[u8],
    ) -> Response {
        self.send(
            &format!("{method} {target}"),
            &request(method, target, headers, body),
        )
    }

    /// Bytes on a connection of their own, and the response to them; `name` is for the transcript.
    pub fn send(&mut self, name: &str, bytes: &[u8]) -> Response {
        self.logged += 1;
        let response = self.world.connect().send(bytes).response();
        self.note(format!("{name} -> {}", response.status));
        self.note_headers(&response.headers);
        self.note(format!(
            "  {:?} {:?}",
            response.end,
            response.body.escape_ascii().to_string()
        ));
        self.responses.push(response.clone());
        response
    }

    /// Bytes on a connection of their own, and all that comes back until the gateway closes it, as it came.
    pub fn everything(&mut self, name: &str, bytes: &[u8]) -> String {
        self.logged += 1;
        let all = self.world.connect().send(bytes).all();
        let text = all.escape_ascii().to_string();
        self.note(format!("{name} ->"));
        for line in text.split("\\r\\n") {
            self.note(format!("  {line}"));
        }
        text
    }

    /// A connection; its first request is awaited in the access log.
    pub fn open(&mut self, name: &str) -> Talk {
        self.logged += 1;
        Talk {
            name: name.to_owned(),
            connection: self.world.connect(),
            rest: None,
        }
    }

    /// The head of the response on a connection.
    ///
    /// # Panics
    /// When none comes.
    pub fn head(&mut self, talk: &mut Talk) -> Head {
        let head = talk.connection.head();
        talk.rest = Some(head.rest());
        self.note(format!("{} -> {}", talk.name, head.status));
        self.note_headers(&head.headers);
        head
    }

    /// The next piece of the response's body.
    ///
    /// # Panics
    /// When there was no head.
    pub fn piece(&mut self, talk: &mut Talk) -> Piece {
        let rest = talk.rest.as_mut().expect("a head came before");
        let piece = talk.connection.piece(rest);
        let text = match &piece {
            Piece::Data(data) => format!("{} {:?}", talk.name, data.escape_ascii().to_string()),
            Piece::End(end) => format!("{} {end:?}", talk.name),
        };
        self.note(text);
        piece
    }

    /// What is left of the response.
    ///
    /// # Panics
    /// When there was no head.
    pub fn rest(&mut self, talk: &mut Talk) -> Vec<u8> {
        let rest = talk.rest.as_mut().expect("a head came before");
        let (body, end) = talk.connection.to_end(rest);
        self.note(format!(
            "{} {end:?} {:?}",
            talk.name,
            body.escape_ascii().to_string()
        ));
        body
    }

    /// Head and body on a connection.
    pub fn response(&mut self, talk: &mut Talk) -> u16 {
        let head = self.head(talk);
        self.rest(talk);
        head.status
    }

    /// Whether anything comes within this time, on both engines alike.
    pub fn answers_within(&mut self, talk: &mut Talk, patience: Duration) -> bool {
        let answers = talk.connection.answers_within(patience);
        self.note(format!("{} answers: {answers}", talk.name));
        answers
    }

    /// Waits until a guest has logged this text so many times.
    ///
    /// # Panics
    /// When it does not.
    pub fn wait_for(&self, text: &str, times: usize) {
        let what = format!("a guest says {text:?} {times} times");
        wait(&what, || self.world.output().matches(text).count() >= times);
    }

    /// Waits until a worker has got so many requests.
    ///
    /// # Panics
    /// When it does not.
    pub fn wait_for_worker(&self, id: &str, requests: usize) {
        let what = format!("{id} gets {requests} requests");
        wait(&what, || self.world.worker(id).recorded().len() >= requests);
    }

    /// A fact of the test's own, to be compared as well.
    pub fn note(&mut self, line: impl Into<String>) {
        self.transcript.push(line.into());
    }

    fn note_headers(&mut self, headers: &[(String, Vec<u8>)]) {
        for (name, value) in headers {
            let mut line = format!("  {name}: ");
            let _ = write!(line, "{}", value.escape_ascii());
            self.note(line);
        }
    }
}

impl Talk {
    /// Sends bytes.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.connection.send(bytes);
        self
    }

    /// Sends a request.
    pub fn request(
        &mut self,
        method: &str,
        target: &str,
        headers: &[&str],
        body: &[u8],
    ) -> &mut Self {
        self.send(request(method, target, headers, body))
    }

    /// Whether the gateway closed the connection; waits for it.
    #[must_use]
    pub fn is_closed(&mut self) -> bool {
        self.connection.is_closed()
    }

    /// Breaks the connection off.
    pub fn abort(self) {
        self.connection.abort();
    }
}

fn wait(what: &str, happened: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !happened() {
        assert!(Instant::now() < until, "waited in vain until {what}");
        std::thread::sleep(PAUSE);
    }
}
