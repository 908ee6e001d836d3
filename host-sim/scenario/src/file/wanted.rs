//! What must come of a run, as it was read. Empty parts say nothing.

use std::time::Duration;

use serde_json::Value;

/// How a response ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As it should.
    Complete,
    /// Broken off by the gateway.
    Broken,
    /// The client left.
    Left,
    /// Not at all.
    Never,
}

/// What must come of a request. Empty parts say nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expected {
    /// Of each response.
    pub status: Option<Matcher>,
    /// By name.
    pub headers: Vec<(String, Matcher)>,
    /// By path into the JSON body.
    pub json: Vec<(String, Matcher)>,
    /// The body as text.
    pub text: Option<Matcher>,
    /// Length of the body.
    pub body_bytes: Option<Count>,
    /// The body is that of the request of this name.
    pub same_body_as: Option<(usize, String)>,
    /// Time from the request's head to the response's.
    pub first_byte: Option<Range>,
    /// Time from the request's head to the end.
    pub took: Option<Range>,
    /// When the pieces of the body came, after the request's head.
    pub pieces_at: Option<(usize, Vec<Duration>)>,
    /// How many pieces the body came in.
    pub pieces: Option<Count>,
    /// How it ended; `None`: as is usual.
    pub ended: Option<(usize, Ending)>,
    /// Workers that were tried, in order.
    pub attempts: Option<(usize, Vec<String>)>,
    /// What the last worker got.
    pub upstream: Option<Upstream>,
    /// Fields of its line in the access log.
    pub log: Vec<(String, Matcher)>,
    /// Status → how many of the repetitions.
    pub statuses: Vec<(u16, Count)>,
    /// Worker → how many of the repetitions it was the last to try.
    pub served_by: Vec<(String, Count)>,
}

/// What a worker must have got.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Upstream {
    /// Path and query.
    pub path: Option<Matcher>,
    /// By name.
    pub headers: Vec<(String, Matcher)>,
    /// By path into the JSON body.
    pub json: Vec<(String, Matcher)>,
    /// The body as text.
    pub text: Option<Matcher>,
    /// Length of the body.
    pub body_bytes: Option<Count>,
}

/// What must hold of the run as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Whole {
    /// By name of the worker.
    pub workers: Vec<(String, WorkerExpected)>,
    /// Workers that clients' requests arrived at, in order.
    pub order: Option<(usize, Vec<String>)>,
    /// Lines of the access log with these fields.
    pub access_log: Vec<(Vec<(String, Matcher)>, Count)>,
    /// Lines of the gateway's own log: level, text, how many.
    pub log: Vec<(Option<String>, String, Count)>,
    /// Metrics by name and labels.
    pub metrics: Vec<(MetricName, Matcher)>,
}

/// What a worker must have seen over the whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerExpected {
    /// Line of the scenario.
    pub line: usize,
    /// Whole requests of clients.
    pub requests: Option<Count>,
    /// Whole requests of the gateway itself, such as health checks.
    pub probes: Option<Count>,
    /// Requests that broke off.
    pub broken: Option<Count>,
    /// Whole requests of either by path without query.
    pub paths: Vec<(String, Count)>,
    /// Requests of clients by `model`.
    pub models: Vec<(String, Count)>,
    /// Headers of each request of a client.
    pub headers: Vec<(String, Matcher)>,
}

/// A metric, and where it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricName {
    /// Name without labels.
    pub name: String,
    /// Labels that it must have; it may have more.
    pub labels: Vec<(String, String)>,
}

/// What a value must be like: all tests hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Matcher {
    /// Line of the scenario.
    pub line: usize,
    /// At least one.
    pub tests: Vec<Test>,
}

/// One thing that a value must be.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// Equal; a number and its text are.
    Is(Value),
    /// Different, or absent.
    Not(Value),
    /// Text within.
    Contains(String),
    /// No such text within.
    Lacks(String),
    /// Its beginning.
    StartsWith(String),
    /// Its end.
    EndsWith(String),
    /// A number of at least this.
    AtLeast(f64),
    /// A number of at most this.
    AtMost(f64),
    /// Equal to one of them.
    OneOf(Vec<Value>),
    /// There, or not.
    Present(bool),
}

/// A number between two bounds, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Line of the scenario.
    pub line: usize,
    /// At least.
    pub least: u64,
    /// At most.
    pub most: u64,
}

/// A time between two bounds, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Line of the scenario.
    pub line: usize,
    /// At least.
    pub least: Duration,
    /// At most.
    pub most: Duration,
}
