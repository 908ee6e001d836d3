//! A worker with scripted guests, a clock that is moved by hand, and a journal of all callbacks.

mod guests;
mod setup;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_sim_host::io::{Command, Event, Headers, Now, ResetReason, StreamId, UpstreamId};
use host_sim_host::{Process, StartError, Worker};

use guests::Factory;
pub use guests::{PAUSE, Script, guest, panics, passes};
pub use setup::{Setup, address, cluster, log, text};

/// A worker at work.
pub struct Stage {
    pub process: Arc<Process>,
    pub(super) factory: Arc<Factory>,
    pub worker: Worker,
    /// The main thread's guests, if the test has asked for them.
    pub main: Option<Worker>,
    pub now: Now,
    pub(super) journal: Arc<Mutex<Vec<String>>>,
    /// All commands so far.
    pub commands: Vec<Command>,
}

/// What a client has got.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    pub headers: Headers,
    pub body: String,
    pub complete: bool,
    pub broken: bool,
}

pub fn lines(lines: &[(&str, &str)]) -> Headers {
    lines
        .iter()
        .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()))
        .collect()
}

/// First value of a header.
pub fn value<'a>(headers: &'a Headers, name: &str) -> Option<&'a str> {
    let found = headers.iter().find(|(key, _)| key == name.as_bytes());
    found.map(|(_, value)| std::str::from_utf8(value).unwrap())
}

impl Stage {
    /// Something happens.
    pub fn handle(&mut self, event: Event) {
        self.worker.handle(self.now, event);
        self.commands.extend(self.worker.take_commands());
    }

    /// Delivers wake-ups of this worker's own guests until there are none; says how many there were.
    pub fn deliver_wakes(&mut self) -> usize {
        let mut delivered = 0;
        loop {
            let before = self.commands.len();
            self.commands
                .retain(|command| !matches!(command, Command::Wake { thread: 0 }));
            if self.commands.len() == before {
                return delivered;
            }
            delivered += before - self.commands.len();
            self.handle(Event::Woken);
        }
    }

    /// A second worker of the same process.
    pub fn second_worker(&self) -> Worker {
        let process = Arc::clone(&self.process);
        Worker::start(process, 1, self.factory.clone(), self.now).unwrap()
    }

    /// Another configuration, with these guests for what is new in it.
    pub fn update(&mut self, setup: Setup) -> Result<(), StartError> {
        let Setup {
            config, scripts, ..
        } = setup;
        self.factory.scripts.lock().unwrap().extend(scripts);
        let update = self.process.plan(config);
        let ready = {
            let mut threads = self.main.iter_mut().chain([&mut self.worker]);
            threads.try_for_each(|thread| thread.prepare(&update, self.now))
        };
        if ready.is_ok() {
            self.process.commit(&update);
        }
        for thread in self.main.iter_mut().chain([&mut self.worker]) {
            match ready {
                Ok(()) => thread.commit(&update, self.now),
                Err(_) => thread.abandon(self.now),
            }
        }
        self.commands.extend(self.worker.take_commands());
        ready
    }

    /// The file of a module holds another build from now on.
    pub fn rebuild(&mut self, path: &str, script: Script) {
        let factory = &self.factory;
        factory
            .scripts
            .lock()
            .unwrap()
            .insert(path.to_owned(), script);
        *factory
            .builds
            .lock()
            .unwrap()
            .entry(path.to_owned())
            .or_default() += 1;
    }

    /// Moves the clock, firing what is due on the way.
    pub fn wait(&mut self, milliseconds: u64) {
        let end = self.now.monotonic + Duration::from_millis(milliseconds);
        loop {
            let due = self.worker.next_timer().filter(|due| *due <= end);
            let step = due.unwrap_or(end).saturating_sub(self.now.monotonic);
            self.now.monotonic += step;
            self.now.wall += step;
            self.worker.advance(self.now);
            self.commands.extend(self.worker.take_commands());
            if due.is_none() {
                break;
            }
        }
    }

    /// The head of a request with these additional lines.
    pub fn request(&mut self, id: u64, extra: &[(&str, &str)], end_stream: bool) {
        let method = if end_stream { "GET" } else { "POST" };
        let mut headers = lines(&[
            (":method", method),
            (":path", "/"),
            (":scheme", "http"),
            (":authority", "gateway"),
        ]);
        headers.retain(|(name, _)| extra.iter().all(|(other, _)| other.as_bytes() != name));
        headers.splice(0..0, lines(extra));
        if extra.iter().any(|(name, _)| *name == "x-no-host") {
            headers.retain(|(name, _)| name != b":authority");
        }
        if extra.contains(&(":method", "CONNECT")) {
            headers.retain(|(name, _)| name != b":path");
        }
        let peer = address(50000);
        self.handle(Event::RequestHeaders {
            stream: StreamId(id),
            listener: 0,
            peer,
            connection: None,
            headers,
            end_stream,
        });
    }

    pub fn get(&mut self, id: u64) {
        self.request(id, &[], true);
    }

    pub fn data(&mut self, id: u64, data: &str, end_stream: bool) {
        self.handle(Event::RequestData {
            stream: StreamId(id),
            data: data.into(),
            end_stream,
        });
    }

    pub fn post(&mut self, id: u64, body: &str) {
        self.request(id, &[], false);
        self.data(id, body, true);
    }

    pub fn leave(&mut self, id: u64) {
        self.handle(Event::RequestReset {
            stream: StreamId(id),
        });
    }

    pub fn reject(&mut self, id: u64, status: u16, details: &'static str) {
        let peer = address(50000);
        self.handle(Event::RequestRejected {
            stream: StreamId(id),
            listener: 0,
            peer,
            status,
            details,
        });
    }

    /// Chunks that break the rules.
    pub fn garble(&mut self, id: u64) {
        self.handle(Event::RequestBroken {
            stream: StreamId(id),
            status: 400,
            details: "http1.codec_error",
        });
    }

    /// Ports of the attempts so far.
    pub fn tried(&self) -> Vec<u16> {
        let port = |command: &Command| match command {
            Command::OpenUpstream { address, .. } => Some(address.port()),
            _ => None,
        };
        self.commands.iter().filter_map(port).collect()
    }

    /// The latest attempt.
    pub fn latest(&self) -> UpstreamId {
        UpstreamId(self.tried().len() as u64)
    }

    pub fn connect(&mut self) {
        self.handle(Event::UpstreamConnected {
            upstream: self.latest(),
        });
    }

    /// The latest attempt is connected and answers with this head.
    pub fn answer(&mut self, status: u16, extra: &[(&str, &str)], end_stream: bool) {
        self.connect();
        let status = status.to_string();
        let mut headers = lines(&[(":status", &status)]);
        headers.extend(lines(extra));
        self.handle(Event::ResponseHeaders {
            upstream: self.latest(),
            headers,
            end_stream,
        });
    }

    pub fn answer_data(&mut self, data: &str, end_stream: bool) {
        self.handle(Event::ResponseData {
            upstream: self.latest(),
            data: data.into(),
            end_stream,
        });
    }

    /// Trailers end the latest attempt's response.
    pub fn answer_trailers(&mut self, trailers: &[(&str, &str)]) {
        self.handle(Event::ResponseTrailers {
            upstream: self.latest(),
            trailers: lines(trailers),
        });
    }

    pub fn reset(&mut self, reason: ResetReason) {
        self.handle(Event::UpstreamReset {
            upstream: self.latest(),
            reason,
        });
    }

    /// Whether the latest attempt was broken off.
    pub fn is_cancelled(&self) -> bool {
        let upstream = self.latest();
        self.commands
            .contains(&Command::CancelUpstream { upstream })
    }

    /// Head, body and end that the latest attempt has been sent.
    pub fn sent_upstream(&self) -> (Option<Headers>, String, bool) {
        let latest = self.latest();
        let (mut head, mut body, mut end) = (None, String::new(), false);
        for command in &self.commands {
            match command {
                Command::SendUpstreamHeaders {
                    upstream,
                    headers,
                    end_stream,
                } if *upstream == latest => {
                    head = Some(headers.clone());
                    end |= end_stream;
                }
                Command::SendUpstreamData {
                    upstream,
                    data,
                    end_stream,
                } if *upstream == latest => {
                    body.push_str(std::str::from_utf8(data).unwrap());
                    end |= end_stream;
                }
                _ => {}
            }
        }
        (head, body, end)
    }

    pub fn response(&self, id: u64) -> Response {
        let mut response = Response::default();
        for command in &self.commands {
            match command {
                Command::SendHeaders {
                    stream,
                    headers,
                    end_stream,
                } if stream.0 == id => {
                    assert_eq!(response.status, 0, "two heads for one request");
                    response.status = value(headers, ":status").unwrap().parse().unwrap();
                    response.headers.clone_from(headers);
                    response.complete |= end_stream;
                }
                Command::SendData {
                    stream,
                    data,
                    end_stream,
                } if stream.0 == id => {
                    response.body.push_str(std::str::from_utf8(data).unwrap());
                    response.complete |= end_stream;
                }
                Command::SendTrailers { stream, .. } if stream.0 == id => response.complete = true,
                Command::ResetStream { stream } if stream.0 == id => response.broken = true,
                _ => {}
            }
        }
        response
    }

    /// Callbacks since the last look, without those that open and delete contexts.
    pub fn journal(&mut self) -> Vec<String> {
        let journal = std::mem::take(&mut *self.journal.lock().unwrap());
        journal
            .into_iter()
            .filter(|line| !line.contains("context_create") && !line.ends_with("delete"))
            .collect()
    }

    /// Access-log lines so far.
    pub fn log_lines(&self) -> Vec<String> {
        let line = |command: &Command| match command {
            Command::AccessLog { line, .. } => Some(line.clone()),
            _ => None,
        };
        self.commands.iter().filter_map(line).collect()
    }

    /// The last access-log line.
    pub fn last_log(&self) -> String {
        self.log_lines().pop().unwrap_or_default()
    }

    /// Whether the host's own log has a line with this in it.
    pub fn host_log_has(&self, part: &str) -> bool {
        self.commands
            .iter()
            .any(|command| matches!(command, Command::Log { text, .. } if text.contains(part)))
    }
}
