//! Counts what a worker gets while it gets it, however much that is.

use std::collections::BTreeMap;

use mock_worker::{MockWorker, Seen};
use serde_json::Value;

/// Requests by the mark that their clients gave them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally(pub BTreeMap<String, u64>);

impl Tally {
    /// Adds what arrived since it was asked last; the marks of that, oldest first. To be asked more
    /// often than the worker gets as many requests as it remembers.
    ///
    /// # Panics
    /// When the worker forgot some, or got what is no request with a [`marked`] body.
    pub fn take(&mut self, worker: &MockWorker) -> Vec<String> {
        let (taken, lost) = worker.with(|worker| (worker.take(), worker.lost()));
        assert_eq!(lost, 0, "the worker forgot requests that nobody counted");
        let marks: Vec<String> = taken.into_iter().map(|record| mark(&record.seen)).collect();
        for mark in &marks {
            *self.0.entry(mark.clone()).or_default() += 1;
        }
        marks
    }
}

/// The body of a chat with `chat` that a [`Tally`] knows by this mark.
#[must_use]
pub fn marked(mark: &str) -> String {
    serde_json::json!({"model": "chat", "user": mark, "messages": []}).to_string()
}

fn mark(seen: &Seen) -> String {
    let Seen::Request(request) = seen else {
        panic!("the worker got what is no whole request: {seen:?}");
    };
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let mark = body["user"].as_str();
    mark.unwrap_or_else(|| panic!("the worker got an unmarked request: {request:?}"))
        .to_owned()
}
