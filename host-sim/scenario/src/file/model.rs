//! A scenario as it was read: everything has its form and its bounds.

use std::collections::BTreeMap;
use std::time::Duration;

use mock_worker::Faults;

use super::wanted::{Expected, Matcher, Whole};
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
