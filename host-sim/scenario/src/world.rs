//! The world: worker threads, their clients and workers, and a clock that jumps from event to event.

pub(crate) mod build;
mod commands;
mod happen;
mod round;
mod update;

pub(crate) use build::worker_names;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use host_sim_host::io::{LookupId, ResetReason, StreamId, UpstreamId};
use host_sim_host::{Process, Worker as Thread};
use mock_worker::{Recorded, Worker};

use crate::agenda::Agenda;
use crate::attempt::Attempt;
use crate::client::{End, Request, RequestId, Response};
use crate::random::Random;
use crate::record::Record;
use crate::setup::{Setup, SetupError, yaml_of};
use crate::site::{Change, Site};
use crate::trace::Trace;
use crate::turns::Turns;
use crate::visit::{Visit, Visits};

/// 2026-01-01T00:00:00Z, when every world begins.
pub(crate) const WALL_START: Duration = Duration::from_secs(1_767_225_600);

/// Most things that happen in one run. A day of requests needs a hundredth; more is a loop.
const HAPPENINGS_LIMIT: u64 = 20_000_000;

/// The draw of what comes first at its moment.
const FIRST: u64 = 0;

/// Most lines of a log that are kept, for tests that look at all of them.
const LOG_LIMIT: usize = 100_000;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every client has its response or left, and nothing is to happen but timers.
    Idle,
    /// The time is up.
    Deadline,
    /// A client waits for a response, and nothing that could bring it is to happen.
    Stuck,
}

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// When.
    pub at: Duration,
    /// File of an access log, or level of the process's own log.
    pub log: String,
    /// The line.
    pub text: String,
    /// The request that a line of an access log is about.
    pub request: Option<RequestId>,
}

/// Something to happen.
#[derive(Debug)]
enum Item {
    /// A client sends its head.
    Send(RequestId),
    /// A client sends a piece of its body.
    Piece(RequestId, usize),
    /// A client leaves.
    Leave(RequestId),
    /// An attempt gets its connection, or not.
    Connect(Key, Result<(), ResetReason>),
    /// A worker plays the next step of an answer.
    Play(Key),
    /// A worker thread hears of the addresses of a name.
    Resolved(usize, LookupId, Vec<IpAddr>),
    /// A worker thread hears of values in shared queues.
    Wake(usize),
    /// A worker changes.
    Change(usize, Change),
    /// Another `gateway.json` takes over.
    Update(String),
    /// The wall clock is set to this time since 1970.
    SetWall(Duration),
}

/// An attempt: its thread and its number there.
type Key = (usize, UpstreamId);

struct Client {
    request: Request,
    thread: usize,
    stream: StreamId,
    response: Response,
    /// When the head was sent.
    sent: Option<Duration>,
    /// The workers that attempts went to, by place.
    attempts: Vec<usize>,
}

/// A whole simulated deployment on a virtual clock.
pub struct World {
    process: Arc<Process>,
    setup: Setup,
    /// The worker threads, and behind them the main thread, which has no requests.
    threads: Vec<Thread>,
    sites: Vec<Site>,
    clients: Vec<Client>,
    streams: BTreeMap<(usize, StreamId), RequestId>,
    attempts: BTreeMap<Key, Attempt>,
    visits: Visits,
    connections: u64,
    agenda: Agenda<Item>,
    random: Random,
    turns: Arc<Turns>,
    overlaps: bool,
    now: Duration,
    wall: Duration,
    happenings: u64,
    /// Bytes of all bodies that clients got.
    response_bytes: u64,
    access_log: Vec<LogLine>,
    log: Vec<LogLine>,
    trace: Trace,
    updates: Vec<Result<(), String>>,
}

impl World {
    /// From a `gateway.json`; workers are known by their ids.
    ///
    /// # Errors
    /// The document or a module cannot be used.
    pub fn new(gateway_json: &str, setup: &Setup) -> Result<World, SetupError> {
        World::edited(gateway_json, setup, str::to_owned)
    }

    /// From a `gateway.json` whose rendered `envoy.yaml` is changed before it is read, for what a
    /// `gateway.json` cannot say.
    ///
    /// # Errors
    /// The document, the changed file or a module cannot be used.
    pub fn edited(
        gateway_json: &str,
        setup: &Setup,
        edit: impl FnOnce(&str) -> String,
    ) -> Result<World, SetupError> {
        let yaml = edit(&yaml_of(gateway_json, setup)?);
        World::build(&yaml, &build::worker_names(gateway_json), setup)
    }

    /// From an `envoy.yaml`; workers are known by their addresses. Paths of modules stand as they are.
    ///
    /// # Errors
    /// The file or a module cannot be used.
    pub fn from_envoy(yaml: &str, setup: &Setup) -> Result<World, SetupError> {
        World::build(yaml, &BTreeMap::new(), setup)
    }

    /// Time since the start.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Lets the wall clock jump; timers do not notice.
    pub fn set_wall(&mut self, since_1970: Duration) {
        self.wall = since_1970.saturating_sub(self.now);
    }

    /// Sets the wall clock at this time of the run, or now if it is past.
    pub fn set_wall_at(&mut self, at: Duration, since_1970: Duration) {
        let at = at.max(self.now);
        self.agenda.add(at, FIRST, Item::SetWall(since_1970));
    }

    /// Adds a request; it runs with [`World::run`].
    pub fn request(&mut self, request: Request) -> RequestId {
        let id = RequestId(self.clients.len());
        let thread = request.thread.unwrap_or(id.0) % self.setup.threads;
        let at = request.at.unwrap_or(self.now).max(self.now);
        let stream = StreamId(id.0 as u64 + 1);
        if let Some(patience) = request.patience {
            self.plan(at + patience, Item::Leave(id));
        }
        self.streams.insert((thread, stream), id);
        self.clients.push(Client {
            request,
            thread,
            stream,
            response: Response::default(),
            sent: None,
            attempts: Vec::new(),
        });
        self.plan(at, Item::Send(id));
        id
    }

    /// Adds a request and runs until all is idle.
    ///
    /// # Panics
    /// A client waits for ever: the trace is printed.
    pub fn answer(&mut self, request: Request) -> Response {
        let id = self.request(request);
        let ended = self.run();
        assert_eq!(ended, Ended::Idle, "no response:\n{}", self.trace());
        self.response(id).clone()
    }

    /// What a client got so far.
    #[must_use]
    pub fn response(&self, id: RequestId) -> &Response {
        &self.clients[id.0].response
    }

    /// When the head of a request was sent, if it was.
    #[must_use]
    pub fn sent(&self, id: RequestId) -> Option<Duration> {
        self.clients[id.0].sent
    }

    /// The thread of a request and its number there, by which [`crate::Onlooker`]s know it.
    #[must_use]
    pub fn stream(&self, id: RequestId) -> (usize, StreamId) {
        let client = &self.clients[id.0];
        (client.thread, client.stream)
    }

    /// The workers that a request was tried at, in order, those that refused the connection too.
    #[must_use]
    pub fn attempts(&self, id: RequestId) -> Vec<&str> {
        let attempts = self.clients[id.0].attempts.iter();
        attempts
            .map(|site| self.sites[*site].name.as_str())
            .collect()
    }

    /// The whole requests that arrived at workers, oldest first.
    #[must_use]
    pub fn visits(&self) -> &[Visit] {
        self.visits.list()
    }

    /// Names of the workers, by address.
    pub fn worker_names(&self) -> impl Iterator<Item = &str> {
        self.sites.iter().map(|site| site.name.as_str())
    }

    /// A worker by its id in `gateway.json`, or its address.
    ///
    /// # Panics
    /// There is none of that name.
    pub fn worker(&mut self, name: &str) -> &mut Worker {
        let site = self.site(name);
        &mut self.sites[site].worker
    }

    /// What arrived at a worker, oldest first.
    ///
    /// # Panics
    /// There is none of that name.
    #[must_use]
    pub fn received(&self, name: &str) -> Vec<&Recorded> {
        self.sites[self.site(name)].worker.recorded().collect()
    }

    /// A worker changes at this time, or now if it is past.
    ///
    /// # Panics
    /// There is none of that name.
    pub fn change(&mut self, at: Duration, worker: &str, change: Change) {
        let site = self.site(worker);
        self.plan(at.max(self.now), Item::Change(site, change));
    }

    /// A worker changes at once.
    ///
    /// # Panics
    /// There is none of that name.
    pub fn change_now(&mut self, worker: &str, change: Change) {
        let site = self.site(worker);
        self.apply(site, change);
    }

    /// A worker changes at this time, before whatever clients and workers do at that moment.
    ///
    /// # Panics
    /// There is none of that name.
    pub fn change_first(&mut self, at: Duration, worker: &str, change: Change) {
        let site = self.site(worker);
        self.agenda.add(at, FIRST, Item::Change(site, change));
    }

    /// Bytes of all bodies that clients got; they lie in memory.
    pub(crate) fn response_bytes(&self) -> u64 {
        self.response_bytes
    }

    /// How many things have happened.
    pub(crate) fn happenings(&self) -> u64 {
        self.happenings
    }

    /// Another `gateway.json` takes over at this time; see [`World::updates`].
    pub fn update_at(&mut self, at: Duration, gateway_json: String) {
        self.agenda
            .add(at.max(self.now), FIRST, Item::Update(gateway_json));
    }

    /// What came of each update that was planned, as far as it is due; a refusal with its reason.
    pub fn updates(&self) -> &[Result<(), String>] {
        &self.updates
    }

    /// Writes down from now on what happens.
    pub(crate) fn record(&mut self, record: Arc<Record>) {
        self.setup.onlookers.push(record);
    }

    /// Lines of access logs in the order in which they were written.
    #[must_use]
    pub fn access_log(&self) -> &[LogLine] {
        &self.access_log
    }

    /// Lines of the process's own log.
    #[must_use]
    pub fn log(&self) -> &[LogLine] {
        &self.log
    }

    /// The guests' metrics in Prometheus's text format.
    #[must_use]
    pub fn prometheus(&self) -> String {
        self.process.prometheus()
    }

    /// Equal for two runs in which the same things happened in the same order.
    #[must_use]
    pub fn trace_hash(&self) -> u64 {
        self.trace.hash()
    }

    /// The last [`crate::TRACE_LINES`] things that happened, one a line.
    #[must_use]
    pub fn trace(&self) -> String {
        self.trace.lines().collect::<Vec<_>>().join("\n")
    }

    /// Runs until all clients are served.
    pub fn run(&mut self) -> Ended {
        self.run_with(|_| {})
    }

    /// As [`World::run`], and after each step `look` may change what it likes.
    pub fn run_with(&mut self, mut look: impl FnMut(&mut World)) -> Ended {
        loop {
            if self.agenda.next().is_none() && !self.is_anyone_waiting() {
                return Ended::Idle;
            }
            if !self.step(Duration::MAX) {
                return Ended::Stuck;
            }
            look(self);
        }
    }

    /// Runs all that happens up to this time, timers too, and leaves the clock there.
    pub fn run_until(&mut self, deadline: Duration) -> Ended {
        while self.step(deadline) {}
        self.now = self.now.max(deadline);
        Ended::Deadline
    }

    fn is_anyone_waiting(&self) -> bool {
        self.clients
            .iter()
            .any(|client| client.response.end == End::Pending)
    }

    fn site(&self, name: &str) -> usize {
        let known = |site: &Site| site.name == name || site.address.to_string() == name;
        self.sites
            .iter()
            .position(known)
            .unwrap_or_else(|| panic!("the configuration has no worker {name}"))
    }
}
