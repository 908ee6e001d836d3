//! What happened, to compare two runs and to read after a failure.

mod show;

use std::collections::VecDeque;
use std::time::Duration;

use host_sim_host::io::{Command, Event};

/// Lines that are kept to be read; the hash covers all of them.
pub const TRACE_LINES: usize = 2000;

/// All events and commands, in order.
#[derive(Debug)]
pub struct Trace {
    hash: u64,
    lines: VecDeque<String>,
    workers: usize,
}

impl Trace {
    /// Of a world with so many worker threads.
    pub fn new(workers: usize) -> Self {
        // Start value and factor of FNV-1a with 64 bits.
        Trace {
            hash: 0xcbf2_9ce4_8422_2325,
            lines: VecDeque::new(),
            workers,
        }
    }

    /// One thing that happened on a thread.
    pub fn add(&mut self, at: Duration, thread: usize, what: &str) {
        let thread = thread_name(thread, self.workers);
        self.keep(format!("{at:?} {thread}: {what}"));
    }

    /// An event for a thread.
    pub fn add_event(&mut self, at: Duration, thread: usize, event: &Event) {
        self.add(at, thread, &show::event(event));
    }

    /// A command of a thread.
    pub fn add_command(&mut self, at: Duration, thread: usize, command: &Command) {
        self.add(at, thread, &show::command(command));
    }

    /// Several threads were inside guests at the same moment.
    pub fn add_overlap(&mut self, at: Duration, threads: &[usize], turns: u64) {
        let names: Vec<String> = threads
            .iter()
            .map(|thread| thread_name(*thread, self.workers))
            .collect();
        let names = names.join(", ");
        self.keep(format!("{at:?} {names}: at once, {turns} turns"));
    }

    fn keep(&mut self, line: String) {
        for byte in line.bytes().chain([b'\n']) {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        if self.lines.len() == TRACE_LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    /// Of all lines so far.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The last lines.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }
}

/// What a thread is called among so many worker threads.
pub fn thread_name(thread: usize, workers: usize) -> String {
    if thread == workers {
        "main".to_owned()
    } else {
        format!("thread {thread}")
    }
}
