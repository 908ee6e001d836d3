//! HTTP/1.1 byte by byte: what is sent and how it is cut is the test's choice, and what comes back
//! is seen as it arrives.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use socket2::SockRef;

use crate::response::parse_head;
pub use crate::response::{End, Head, Response, Rest};

/// Longest silence before a test is given up: well above every time-out that a test sets.
const PATIENCE: Duration = Duration::from_secs(20);

/// One connection to the gateway.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    closed: bool,
}

/// A piece of a response body, as the connection had it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A chunk of a chunked body, or what had arrived of another.
    Data(Vec<u8>),
    /// Nothing follows.
    End(End),
}

impl Connection {
    /// Connects.
    ///
    /// # Panics
    /// When nobody listens.
    #[must_use]
    pub fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address)
            .unwrap_or_else(|problem| panic!("connecting to {address}: {problem}"));
        Self::on(stream)
    }

    /// Connects, if anybody listens.
    pub(crate) fn try_open(address: SocketAddr) -> Option<Self> {
        TcpStream::connect(address).ok().map(Self::on)
    }

    fn on(stream: TcpStream) -> Self {
        stream.set_nodelay(true).expect("the socket is open");
        stream
            .set_read_timeout(Some(PATIENCE))
            .expect("the socket is open");
        Self {
            stream,
            buffer: Vec::new(),
            closed: false,
        }
    }

    /// Sends these bytes at once. That the peer is gone is seen when reading.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        let _ = self.stream.write_all(bytes.as_ref());
        self
    }

    /// Sends these bytes in pieces that end at these offsets, each in a packet of its own as far
    /// as that can be had.
    pub fn send_cut_at(&mut self, bytes: &[u8], offsets: &[usize]) -> &mut Self {
        let mut from = 0;
        for to in offsets.iter().copied().chain([bytes.len()]) {
            let to = to.clamp(from, bytes.len());
            self.send(&bytes[from..to]);
            from = to;
            // Loopback hands a packet over at once, but the reader has to get a turn.
            std::thread::sleep(Duration::from_millis(2));
        }
        self
    }

    /// Breaks the connection off (RST).
    pub fn abort(self) {
        let _ = SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }

    /// The next response, head and body.
    ///
    /// # Panics
    /// When no head comes.
    pub fn response(&mut self) -> Response {
        let head = self.head();
        let mut rest = head.rest();
        let (body, end) = self.to_end(&mut rest);
        Response {
            status: head.status,
            headers: head.headers,
            body,
            end,
        }
    }

    /// The next head that is not `100 Continue`.
    ///
    /// # Panics
    /// When none comes.
    pub fn head(&mut self) -> Head {
        self.try_head()
            .expect("the connection ended before a response")
    }

    /// The next head that is not `100 Continue`; `None` if the connection ends first.
    ///
    /// # Panics
    /// When nothing comes for 20 s, or it is not HTTP.
    pub fn try_head(&mut self) -> Option<Head> {
        loop {
            let head = self.any_head()?;
            if head.status != 100 {
                return Some(head);
            }
        }
    }

    /// Whether the next head is `100 Continue`.
    ///
    /// # Panics
    /// As [`Connection::try_head`].
    pub fn is_told_to_go_on(&mut self) -> bool {
        self.any_head().is_some_and(|head| head.status == 100)
    }

    fn any_head(&mut self) -> Option<Head> {
        while !self.buffer.windows(4).any(|window| window == b"\r\n\r\n") {
            if !self.fill() {
                assert!(
                    self.buffer.is_empty(),
                    "half a head: {}",
                    String::from_utf8_lossy(&self.buffer)
                );
                return None;
            }
        }
        let end = self
            .buffer
            .windows(4)
            .position(|window| window == b"\r\n\r\n")
            .unwrap_or_default();
        let bytes: Vec<u8> = self.buffer.drain(..end + 4).collect();
        Some(parse_head(&bytes))
    }

    /// The next piece of a body, as soon as it is there.
    ///
    /// # Panics
    /// When nothing comes for 20 s, or the chunks are none.
    pub fn piece(&mut self, rest: &mut Rest) -> Piece {
        match *rest {
            Rest::Chunks => self.chunk(),
            Rest::Bytes(0) => Piece::End(End::Complete),
            Rest::Bytes(_) | Rest::UntilClose if self.buffer.is_empty() && !self.fill() => {
                Piece::End(if *rest == Rest::UntilClose {
                    End::Complete
                } else {
                    End::BrokenOff
                })
            }
            Rest::Bytes(left) => {
                let data: Vec<u8> = self.buffer.drain(..left.min(self.buffer.len())).collect();
                *rest = Rest::Bytes(left - data.len());
                Piece::Data(data)
            }
            Rest::UntilClose => Piece::Data(std::mem::take(&mut self.buffer)),
        }
    }

    /// What is left of a body.
    ///
    /// # Panics
    /// As [`Connection::piece`].
    pub fn to_end(&mut self, rest: &mut Rest) -> (Vec<u8>, End) {
        let mut body = Vec::new();
        loop {
            match self.piece(rest) {
                Piece::Data(data) => body.extend(data),
                Piece::End(end) => return (body, end),
            }
        }
    }

    /// Whether anything comes within this time: an answer, or the end of the connection.
    pub fn answers_within(&mut self, patience: Duration) -> bool {
        if self.closed || !self.buffer.is_empty() {
            return true;
        }
        let _ = self.stream.set_read_timeout(Some(patience));
        let seen = self.stream.peek(&mut [0]);
        let _ = self.stream.set_read_timeout(Some(PATIENCE));
        !matches!(&seen, Err(problem) if is_silence(problem))
    }

    /// Whether the peer has closed and nothing more comes. Waits for it.
    pub fn is_closed(&mut self) -> bool {
        self.buffer.is_empty() && !self.fill()
    }

    /// Everything that comes until the peer closes.
    ///
    /// # Panics
    /// When nothing comes for 20 s.
    pub fn all(&mut self) -> Vec<u8> {
        while self.fill() {}
        std::mem::take(&mut self.buffer)
    }

    fn chunk(&mut self) -> Piece {
        let Some(line) = self.line() else {
            return Piece::End(End::BrokenOff);
        };
        let size = String::from_utf8_lossy(&line);
        let size = usize::from_str_radix(size.trim(), 16)
            .unwrap_or_else(|_| panic!("{size:?} is no chunk size"));
        if size == 0 {
            loop {
                match self.line() {
                    Some(line) if line.is_empty() => return Piece::End(End::Complete),
                    Some(_) => {}
                    None => return Piece::End(End::BrokenOff),
                }
            }
        }
        while self.buffer.len() < size + 2 {
            if !self.fill() {
                return Piece::End(End::BrokenOff);
            }
        }
        let data = self.buffer.drain(..size).collect();
        self.buffer.drain(..2);
        Piece::Data(data)
    }

    fn line(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\r\n") {
                let line = self.buffer.drain(..end).collect();
                self.buffer.drain(..2);
                return Some(line);
            }
            if !self.fill() {
                return None;
            }
        }
    }

    /// Reads on; false when the connection is over.
    fn fill(&mut self) -> bool {
        let mut piece = [0; 65536];
        while !self.closed {
            match self.stream.read(&mut piece) {
                Ok(0) => self.closed = true,
                Ok(count) => {
                    self.buffer.extend_from_slice(&piece[..count]);
                    return true;
                }
                Err(problem) if problem.kind() == io::ErrorKind::Interrupted => {}
                Err(problem) if is_silence(&problem) => {
                    panic!("nothing came for {} s", PATIENCE.as_secs())
                }
                Err(_) => self.closed = true,
            }
        }
        false
    }
}

fn is_silence(problem: &io::Error) -> bool {
    matches!(
        problem.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

/// The bytes of a request with a host, these header lines, and a `content-length` unless it is a
/// `GET` without a body.
#[must_use]
pub fn request(method: &str, target: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let mut out = format!("{method} {target} HTTP/1.1\r\n");
    if !headers.iter().any(|line| line.starts_with("host:")) {
        out.push_str("host: gateway.test\r\n");
    }
    for line in headers {
        out.push_str(line);
        out.push_str("\r\n");
    }
    if !body.is_empty() || method != "GET" {
        out.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    out.push_str("\r\n");
    let mut out = out.into_bytes();
    out.extend_from_slice(body);
    out
}
