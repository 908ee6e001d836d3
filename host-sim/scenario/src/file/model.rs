//! A scenario as it was read: everything has its form and its bounds.

use std::collections::BTreeMap;
use std::time::Duration;

use mock_worker::Faults;
use serde_json::Value;

/// A whole scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// One line.
    pub title: String,
    /// More about it, for reports.
    pub about: Option<String>,
    /// What is deployed.
    pub gateway: Gateway,
    /// Folder of other modules, below the usual one.
    pub modules: Option<String>,
    /// Changes to the `envoy.yaml`.
    pub edits: Vec<Edit>,
    /// Worker threads, at least 1.
    pub threads: usize,
    /// It must hold with each of these.
    pub seeds: std::ops::Range<u64>,
    /// Environment of the gateway.
    pub environment: BTreeMap<String, String>,
    /// The wall clock at the start, since 1970; `None`: as every world.
    pub start: Option<Duration>,
    /// When the wall clock jumps, and to which time since 1970.
    pub jumps: Vec<(Duration, Duration)>,
    /// Other configurations that take over, in order of time.
    pub updates: Vec<Update>,
    /// By name.
    pub workers: BTreeMap<String, WorkerPlan>,
    /// In the order of the file.
    pub requests: Vec<RequestPlan>,
    /// The run goes on to this time at least.
    pub until: Option<Duration>,
    /// What must hold of the run as a whole.
    pub whole: Whole,
}

/// What is deployed.
#[derive(Clone, Debug, PartialEq)]
pub enum Gateway {
    /// A `gateway.json`, with the keys of the scenario in it.
    Inline(String),
    /// Path of a `gateway.json`, relative to the scenario.
    Json(String),
    /// Path of an `envoy.yaml`, relative to the scenario.
    Envoy(String),
}

/// Another `gateway.json` amid the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// Line of the scenario.
    pub line: usize,
    /// When.
    pub at: Duration,
    /// Never an `envoy.yaml`.
    pub gateway: Gateway,
    /// What is said when it is refused; without it, it must be taken.
    pub refused: Option<Matcher>,
}

/// A change to the text of the `envoy.yaml`.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// Line of the scenario.
    pub line: usize,
    /// Every place where this stands,
    pub replace: String,
    /// gets this.
    pub with: String,
}

/// A worker and what becomes of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerPlan {
    /// Line of the scenario.
    pub line: usize,
    /// What it wants as `authorization: Bearer`.
    pub key: Option<String>,
    /// Models it serves; empty: all.
    pub models: Vec<String>,
    /// What it does from which time on.
    pub behaviours: Vec<(Duration, Behaviour)>,
}

/// What changes in a worker at one moment. `None` leaves it as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Behaviour {
    /// How it answers.
    pub faults: Option<Faults>,
    /// Connections are refused, open ones break.
    pub down: Option<bool>,
    /// Connections are neither taken nor refused.
    pub vanished: Option<bool>,
    /// `/readyz` says no.
    pub draining: Option<bool>,
    /// How long a connection takes.
    pub connect_delay: Option<Duration>,
    /// Held answers go on.
    pub release: bool,
}

/// When a request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At this time of the run.
    At(Duration),
    /// This long after all requests before it in the file are over.
    After(Duration),
}

/// Where a body is cut into pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Into this many pieces of about the same length.
    Pieces(usize),
    /// At these offsets.
    At(Vec<usize>),
}

/// One request, or several alike.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestPlan {
    /// Line of the scenario.
    pub line: usize,
    /// For reports and references.
    pub name: String,
    /// When.
    pub start: Start,
    /// How often.
    pub times: usize,
    /// Time between one and the next.
    pub every: Duration,
    /// Method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Header lines, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<Vec<u8>>,
    /// How it is cut.
    pub cut: Option<Cut>,
    /// Time between pieces.
    pub pause: Duration,
    /// Without `content-length`.
    pub chunked: bool,
    /// The end of the body never comes.
    pub unfinished: bool,
    /// The client leaves this long after the head.
    pub leaves: Option<Duration>,
    /// The worker thread that serves it.
    pub thread: Option<usize>,
    /// The listener, from 0.
    pub listener: usize,
    /// What must come of it.
    pub expected: Expected,
}

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
