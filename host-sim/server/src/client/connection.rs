//! One connection of a client, request after request.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use host_sim_host::config::Http1;
use host_sim_host::io::{ConnectionId, Event, StreamId};
use tokio::net::TcpStream;

use super::{Client, Exchange, Reply, linger};
use crate::counts::{By, Names};
use crate::driver::Driver;
use crate::http1::request::{BadRequest, RequestDecoder, RequestHead, RequestPart};

/// Bytes of further requests that are read while one is answered. They wait; reading them at all
/// is how a client that leaves is noticed.
pub const PIPELINE_LIMIT_BYTES: usize = 64 * 1024;

/// A connection without a request ends after this, Envoy's default `idle_timeout`.
const IDLE_TIMEOUT: Duration = Duration::from_secs(3600);

/// Where a client came in.
#[derive(Clone, Debug)]
pub struct Entrance {
    /// Its number, which it keeps over all configurations.
    pub listener: usize,
    /// The client.
    pub peer: SocketAddr,
    /// `delayed_close_timeout` of the listener.
    pub delayed_close_timeout: Duration,
    /// Bounds and options of the listener.
    pub http1: Http1,
    /// Under which it is counted.
    pub names: Arc<Names>,
}

struct Connection {
    driver: Rc<Driver>,
    client: Rc<Client>,
    entrance: Entrance,
    id: ConnectionId,
    decoder: RequestDecoder,
    stream: Option<StreamId>,
    /// No byte of the client is looked at any more.
    deaf: bool,
    /// A byte has come.
    spoke: bool,
    /// The client has ended the connection.
    left: bool,
}

/// How a connection goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// There may be more in the buffers.
    Again,
    /// Nothing to do until something happens.
    Wait,
    /// After the last byte the connection ends.
    Close,
    /// The connection is gone or of no use.
    Drop,
}

/// Serves a connection to its end.
pub async fn serve(driver: Rc<Driver>, socket: TcpStream, entrance: Entrance) {
    let (number, names) = (entrance.listener, entrance.names.clone());
    names.connected(&driver.process);
    let client = Rc::new(Client::new(entrance.http1.trailers));
    let decoder = RequestDecoder::new(entrance.http1);
    let mut connection = Connection {
        driver: driver.clone(),
        client,
        entrance,
        id: driver.connection_begins(number),
        decoder,
        stream: None,
        deaf: false,
        spoke: false,
        left: false,
    };
    let (by, active) = connection.serve(socket).await;
    names.ended(&driver.process, by, active, connection.spoke);
    driver.send(Event::ConnectionEnded {
        connection: connection.id,
    });
    driver.connection_ends(number);
}

impl Connection {
    /// Request after request; who ended it, and whether a request was under way then.
    async fn serve(&mut self, socket: TcpStream) -> (By, bool) {
        // Streams are made of small pieces; without this each could wait for the one before.
        let _ = socket.set_nodelay(true);
        loop {
            let step = match self.step(&socket) {
                Step::Wait => self.wait(&socket).await,
                step => step,
            };
            match step {
                Step::Again | Step::Wait => {}
                Step::Close => {
                    let broke_off = self.client.reply() == Reply::Broken;
                    self.abandon();
                    let patience = self.entrance.delayed_close_timeout;
                    let by = linger::close(socket, patience).await;
                    // What a client sees of a broken response is that the gateway ends it.
                    return (if broke_off { By::Local } else { by }, false);
                }
                Step::Drop => break,
            }
        }
        let active = matches!(self.client.reply(), Reply::Waiting | Reply::Started(_));
        self.abandon();
        let by = if self.left { By::Remote } else { By::Local };
        (by, active)
    }

    fn step(&mut self, socket: &TcpStream) -> Step {
        if let Some(end) = self.decode() {
            return end;
        }
        if !self.flush(socket) {
            return Step::Drop;
        }
        let flushed = self.client.out.borrow().is_empty();
        match self.client.reply() {
            Reply::Complete | Reply::Broken if !flushed => Step::Wait,
            Reply::Broken => Step::Close,
            Reply::Complete
                if self.client.closes() || self.is_last() || !self.decoder.is_complete() =>
            {
                Step::Close
            }
            Reply::Complete => {
                self.stream = None;
                self.client.finish();
                self.decoder.start_next();
                if self.decoder.buffered() > 0 {
                    Step::Again
                } else {
                    Step::Wait
                }
            }
            Reply::None if self.is_closed() => self.last_look(socket),
            Reply::None | Reply::Waiting | Reply::Started(_) => Step::Wait,
        }
    }

    /// The entrance is gone.
    fn is_closed(&self) -> bool {
        self.driver.is_closed(self.entrance.listener)
    }

    /// Nothing follows what was answered.
    fn is_last(&self) -> bool {
        self.is_closed() && self.decoder.buffered() == 0
    }

    /// Before an idle connection of a closed entrance ends: a request that has arrived is served.
    fn last_look(&mut self, socket: &TcpStream) -> Step {
        let known = self.decoder.buffered();
        if !self.read(socket) {
            return Step::Drop;
        }
        match self.decoder.buffered() {
            0 => Step::Drop,
            now if now > known => Step::Again,
            // Half a head; the rest is awaited.
            _ => Step::Wait,
        }
    }

    /// Hands on what was read, as far as the worker may have it.
    fn decode(&mut self) -> Option<Step> {
        while !self.deaf && !self.client.has_slow_attempt() {
            if matches!(self.client.reply(), Reply::Complete | Reply::Broken) {
                return None;
            }
            match self.decoder.next_part() {
                Ok(None) => return None,
                Ok(Some(RequestPart::Head(head))) => self.begin(head),
                Ok(Some(RequestPart::Data { data, end_stream })) => {
                    if end_stream {
                        self.client.request_is_complete();
                    }
                    if let Some(stream) = self.stream {
                        self.driver.send(Event::RequestData {
                            stream,
                            data,
                            end_stream,
                        });
                    }
                }
                Ok(Some(RequestPart::Trailers(trailers))) => {
                    self.client.request_is_complete();
                    if let Some(stream) = self.stream {
                        self.driver
                            .send(Event::RequestTrailers { stream, trailers });
                    }
                }
                Err(bad) => return self.refuse(bad),
            }
        }
        None
    }

    fn begin(&mut self, head: RequestHead) {
        let RequestHead {
            mut headers,
            end_stream,
            close,
            expect_continue,
            is_head,
        } = head;
        self.client.begin(Exchange {
            to_head: is_head,
            close,
        });
        if end_stream {
            self.client.request_is_complete();
        }
        if expect_continue {
            self.client
                .out
                .borrow_mut()
                .push(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        if close {
            // No filter sees it, but the response says so too.
            headers.push((b"connection".to_vec(), b"close".to_vec()));
        }
        let stream = self.driver.begin_stream(&self.client);
        self.stream = Some(stream);
        let Entrance { listener, peer, .. } = self.entrance;
        self.driver.send(Event::RequestHeaders {
            stream,
            listener,
            peer,
            connection: Some(self.id),
            headers,
            end_stream,
        });
    }

    fn refuse(&mut self, bad: BadRequest) -> Option<Step> {
        self.deaf = true;
        self.count("downstream_cx_protocol_error", 1);
        let Entrance { listener, peer, .. } = self.entrance;
        match bad {
            BadRequest::Refused { status, details } => {
                self.client.begin(Exchange {
                    to_head: false,
                    close: true,
                });
                let stream = self.driver.begin_stream(&self.client);
                self.stream = Some(stream);
                self.driver.send(Event::RequestRejected {
                    stream,
                    listener,
                    peer,
                    status,
                    details,
                });
            }
            BadRequest::Body => self.break_request(400, "http1.codec_error"),
            BadRequest::Trailers { details } => self.break_request(431, details),
            BadRequest::Tls => self.say(peer, "TLS"),
            BadRequest::Http2 => self.say(peer, "HTTP/2 without an upgrade"),
        }
        matches!(bad, BadRequest::Tls | BadRequest::Http2).then_some(Step::Drop)
    }

    /// The rest of the request under way is of no use.
    fn break_request(&mut self, status: u16, details: &'static str) {
        if let Some(stream) = self.stream {
            self.driver.send(Event::RequestBroken {
                stream,
                status,
                details,
            });
        }
        self.client.break_off();
    }

    fn say(&self, peer: SocketAddr, protocol: &str) {
        let text = format!(
            "closed the connection of {peer}: it speaks {protocol}, host-sim serves HTTP/1.1 only"
        );
        self.driver.log("warning", &text);
    }

    /// Writes as much as the client takes; `false`: it takes nothing any more.
    fn flush(&mut self, socket: &TcpStream) -> bool {
        let mut out = self.client.out.borrow_mut();
        let mut wrote = 0;
        while !out.is_empty() {
            match socket.try_write(out.bytes()) {
                Ok(count) => {
                    out.consume(count);
                    wrote += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => {
                    self.left = true;
                    return false;
                }
            }
        }
        drop(out);
        if wrote > 0 {
            self.count("downstream_cx_tx_bytes_total", wrote);
            if !self.client.is_slow() {
                self.client.wake_attempts();
            }
        }
        true
    }

    fn wants_bytes(&self) -> bool {
        let ended = matches!(self.client.reply(), Reply::Complete | Reply::Broken);
        // A head that is too long must be seen to be so.
        let most = PIPELINE_LIMIT_BYTES.max(self.entrance.http1.head_limit_bytes + 1);
        let room = self.decoder.buffered() < most;
        !self.deaf && !ended && room && !self.client.has_slow_attempt()
    }

    async fn wait(&mut self, socket: &TcpStream) -> Step {
        let writes = !self.client.out.borrow().is_empty();
        let idle = self.client.reply() == Reply::None;
        tokio::select! {
            ready = socket.readable(), if self.wants_bytes() => {
                if ready.is_err() || !self.read(socket) { Step::Drop } else { Step::Again }
            }
            ready = socket.writable(), if writes => {
                if ready.is_err() { Step::Drop } else { Step::Again }
            }
            () = self.client.wake.notified() => Step::Again,
            () = self.driver.entrance_closed.notified(), if idle => Step::Again,
            () = tokio::time::sleep(IDLE_TIMEOUT), if idle => Step::Drop,
        }
    }

    /// One read; `false`: the client is gone. Half a connection counts as none, as in Envoy.
    fn read(&mut self, socket: &TcpStream) -> bool {
        let driver = self.driver.clone();
        let mut buffer = driver.read_buffer.borrow_mut();
        match socket.try_read(&mut buffer) {
            Ok(0) => {
                self.left = true;
                false
            }
            Ok(count) => {
                self.decoder.push(buffer.get(..count).unwrap_or_default());
                drop(buffer);
                if !std::mem::replace(&mut self.spoke, true) {
                    self.entrance.names.spoke(&self.driver.process);
                }
                self.count("downstream_cx_rx_bytes_total", count as u64);
                true
            }
            Err(error) => {
                let waits = error.kind() == ErrorKind::WouldBlock;
                self.left |= !waits;
                waits
            }
        }
    }

    fn count(&self, name: &'static str, by: u64) {
        self.entrance.names.add(&self.driver.process, name, by);
    }

    /// Tells the worker that a request under way has lost its client.
    fn abandon(&mut self) {
        let Some(stream) = self.stream.take() else {
            return;
        };
        self.driver.forget_stream(stream);
        if matches!(self.client.reply(), Reply::Waiting | Reply::Started(_)) {
            self.driver.send(Event::RequestReset { stream });
        }
    }
}
