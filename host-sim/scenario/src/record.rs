//! What happened, for a person: one line an event or command, header lines below it.

mod words;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use host_sim_host::abi::watch::{View, Watcher, Whose};
use host_sim_host::abi::{Call, Trap};
use host_sim_host::io::{Command, Event, Headers};

use words::{came, end, shown, wanted};

use crate::onlook::Onlooker;
use crate::trace::thread_name;

/// Most lines of a record; whoever wants to read more wants to search, in a log.
const MAX_LINES: usize = 20_000;

/// A record that grows, shared by the world and the guests that are watched.
#[derive(Debug)]
pub struct Record(Mutex<Lines>);

/// The lines so far.
#[derive(Debug)]
struct Lines {
    /// Worker threads of the world.
    workers: usize,
    text: String,
    lines: usize,
    /// By thread, since its last event: timers that changed nothing are not told.
    idle: BTreeMap<usize, String>,
}

impl Record {
    /// Of a world with so many worker threads.
    pub fn new(workers: usize) -> Record {
        Record(Mutex::new(Lines {
            workers,
            text: String::new(),
            lines: 0,
            idle: BTreeMap::new(),
        }))
    }

    /// All lines; says so if there were more.
    pub fn text(&self) -> String {
        self.lines(|lines| lines.text())
    }

    fn lines<T>(&self, act: impl FnOnce(&mut Lines) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What comes to the threads, and what they want.
impl Onlooker for Record {
    fn timers(&self, at: Duration, thread: usize) {
        self.lines(|lines| lines.timers(at, thread));
    }

    fn event(&self, at: Duration, thread: usize, event: &Event) {
        self.lines(|lines| lines.event(at, thread, event));
    }

    fn command(&self, at: Duration, thread: usize, command: &Command) {
        self.lines(|lines| lines.command(at, thread, command));
    }
}

/// Callbacks of requests, attempts and answers to callouts, each with the guest's decision.
impl Watcher for Record {
    fn returned(
        &self,
        whose: &Whose,
        call: &Call,
        answer: Result<u32, &Trap>,
        _instructions: u64,
        _view: &mut View<'_>,
    ) {
        if let Some(text) = callback(whose, call, answer) {
            self.lines(|lines| lines.callback(whose, &text));
        }
    }
}

/// `None` for what every context has: it is made, done and deleted; and for timers, which are not of a request.
fn callback(whose: &Whose, call: &Call, answer: Result<u32, &Trap>) -> Option<String> {
    let numbers = match call {
        Call::RequestHeaders { end_of_stream, .. }
        | Call::ResponseHeaders { end_of_stream, .. } => end(*end_of_stream).to_owned(),
        Call::RequestBody {
            size,
            end_of_stream,
            ..
        }
        | Call::ResponseBody {
            size,
            end_of_stream,
            ..
        } => {
            format!(", {size} bytes{}", end(*end_of_stream))
        }
        Call::HttpCallResponse {
            token, headers: 0, ..
        } => format!(", token {token}, broken"),
        Call::HttpCallResponse { token, .. } => format!(", token {token}"),
        Call::GrpcReceive { token, size, .. } => format!(", token {token}, {size} bytes"),
        Call::GrpcReceiveInitialMetadata { token, .. }
        | Call::GrpcReceiveTrailingMetadata { token, .. } => format!(", token {token}"),
        Call::GrpcClose { token, status, .. } => {
            format!(", token {token}, status {}", status.cast_signed())
        }
        Call::RequestTrailers { .. } | Call::ResponseTrailers { .. } | Call::Log { .. } => {
            String::new()
        }
        _ if answer.is_err() => String::new(),
        _ => return None,
    };
    let name = call.export().trim_start_matches("proxy_on_");
    let decision = match (answer, call) {
        (Err(trap), _) => format!(": trapped, {}", shown(format!("{trap:?}").as_bytes())),
        (
            Ok(_),
            Call::Log { .. }
            | Call::HttpCallResponse { .. }
            | Call::GrpcReceiveInitialMetadata { .. }
            | Call::GrpcReceive { .. }
            | Call::GrpcReceiveTrailingMetadata { .. }
            | Call::GrpcClose { .. },
        ) => String::new(),
        (Ok(0), _) => ": continue".to_owned(),
        (Ok(1), _) => ": pause".to_owned(),
        (Ok(other), _) => format!(": {other}"),
    };
    Some(format!("{} {name}{numbers}{decision}", whose.plugin))
}

impl Lines {
    fn text(&self) -> String {
        let mut text = self.text.clone();
        if self.lines >= MAX_LINES {
            let _ = writeln!(text, "... cut after {MAX_LINES} lines");
        }
        text
    }

    fn timers(&mut self, at: Duration, thread: usize) {
        let line = format!("{} | timers", self.begin(at, thread));
        self.idle.insert(thread, line);
    }

    fn event(&mut self, at: Duration, thread: usize, event: &Event) {
        self.idle.remove(&thread);
        let (text, headers) = came(event);
        self.add(at, thread, '>', &text, headers);
    }

    fn command(&mut self, at: Duration, thread: usize, command: &Command) {
        self.tell_timers(thread);
        let (text, headers) = wanted(command);
        self.add(at, thread, '<', &text, headers);
    }

    fn callback(&mut self, whose: &Whose, text: &str) {
        self.tell_timers(whose.thread);
        let begin = self.begin(whose.at, whose.thread);
        self.line(&format!("{begin}   {text}"));
    }

    fn tell_timers(&mut self, thread: usize) {
        if let Some(timers) = self.idle.remove(&thread) {
            self.line(&timers);
        }
    }

    fn add(&mut self, at: Duration, thread: usize, side: char, text: &str, headers: &Headers) {
        let begin = self.begin(at, thread);
        self.line(&format!("{begin} {side} {text}"));
        for (name, value) in headers {
            let line = format!("{:32}{}: {}", "", shown(name), shown(value));
            self.line(&line);
        }
    }

    /// When and where: the beginning of a line.
    fn begin(&self, at: Duration, thread: usize) -> String {
        format!("{} {:8}", clock(at), thread_name(thread, self.workers))
    }

    fn line(&mut self, line: &str) {
        if self.lines < MAX_LINES {
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
        self.lines += 1;
    }
}

/// Seconds with microseconds.
fn clock(at: Duration) -> String {
    format!("{:>12}.{:06}", at.as_secs(), at.subsec_micros())
}
