//! The world: worker threads, their clients and workers, and a clock that jumps from event to event.

mod commands;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use host_sim_host::io::{Event, Now, StreamId, UpstreamId};
use host_sim_host::{Process, Worker as Thread};
use mock_worker::{Recorded, Worker};

use crate::agenda::Agenda;
use crate::attempt::{Attempt, Played};
use crate::client::{End, Request, RequestId, Response};
use crate::random::Random;
use crate::setup::{Setup, SetupError, modules, yaml_of};
use crate::site::{Change, Site};
use crate::trace::Trace;

/// 2026-01-01T00:00:00Z, when every world begins.
const WALL_START: Duration = Duration::from_secs(1_767_225_600);

/// Most things that happen in one run. A day of requests needs a hundredth; more is a loop.
const HAPPENINGS_LIMIT: u64 = 20_000_000;

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
    Connect(Key, Result<(), host_sim_host::io::ResetReason>),
    /// A worker plays the next step of an answer.
    Play(Key),
    /// A worker changes.
    Change(usize, Change),
}

/// An attempt: its thread and its number there.
type Key = (usize, UpstreamId);

struct Client {
    request: Request,
    thread: usize,
    stream: StreamId,
    response: Response,
}

/// A whole simulated deployment on a virtual clock.
pub struct World {
    process: Arc<Process>,
    threads: Vec<Thread>,
    sites: Vec<Site>,
    clients: Vec<Client>,
    streams: BTreeMap<(usize, StreamId), RequestId>,
    attempts: BTreeMap<Key, Attempt>,
    connections: u64,
    agenda: Agenda<Item>,
    random: Random,
    now: Duration,
    wall: Duration,
    happenings: u64,
    access_log: Vec<LogLine>,
    log: Vec<LogLine>,
    trace: Trace,
}

impl World {
    /// From a `gateway.json`; workers are known by their ids.
    ///
    /// # Errors
    /// The document or a module cannot be used.
    pub fn new(gateway_json: &str, setup: &Setup) -> Result<World, SetupError> {
        World::build(
            &yaml_of(gateway_json, setup)?,
            &worker_names(gateway_json),
            setup,
        )
    }

    /// From an `envoy.yaml`; workers are known by their addresses. Paths of modules stand as they are.
    ///
    /// # Errors
    /// The file or a module cannot be used.
    pub fn from_envoy(yaml: &str, setup: &Setup) -> Result<World, SetupError> {
        World::build(yaml, &BTreeMap::new(), setup)
    }

    fn build(
        yaml: &str,
        names: &BTreeMap<SocketAddr, String>,
        setup: &Setup,
    ) -> Result<World, SetupError> {
        let config = host_sim_envoy::read(yaml).map_err(SetupError::Read)?;
        let plugins = config
            .listeners
            .iter()
            .flat_map(|listener| &listener.http.filters);
        let plugins = plugins.chain(
            config
                .clusters
                .values()
                .flat_map(|cluster| &cluster.upstream_filters),
        );
        for plugin in plugins {
            let path = std::path::PathBuf::from(&plugin.vm.code_path);
            if !path.exists() {
                return Err(SetupError::Module(path));
            }
        }
        let mut addresses: Vec<SocketAddr> = config
            .clusters
            .values()
            .flat_map(|cluster| cluster.endpoints.iter().copied())
            .collect();
        addresses.sort();
        addresses.dedup();
        let name = |address: &SocketAddr| {
            names
                .get(address)
                .cloned()
                .unwrap_or_else(|| address.to_string())
        };
        let sites = addresses
            .iter()
            .map(|address| Site::new(name(address), *address))
            .collect();
        let process = Process::new(config, setup.environment.clone(), setup.seed);
        let start = Now {
            monotonic: Duration::ZERO,
            wall: WALL_START,
        };
        let mut threads = Vec::new();
        for index in 0..setup.threads {
            let thread = Thread::start(process.clone(), index, modules()?, start);
            threads.push(thread.map_err(SetupError::Start)?);
        }
        if threads.is_empty() {
            return Err(SetupError::NoThread);
        }
        let mut world = World {
            process,
            threads,
            sites,
            clients: Vec::new(),
            streams: BTreeMap::new(),
            attempts: BTreeMap::new(),
            connections: 0,
            agenda: Agenda::default(),
            random: Random::new(setup.seed),
            now: Duration::ZERO,
            wall: WALL_START,
            happenings: 0,
            access_log: Vec::new(),
            log: Vec::new(),
            trace: Trace::default(),
        };
        for thread in 0..world.threads.len() {
            world.carry_out(thread);
        }
        Ok(world)
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

    /// Adds a request; it runs with [`World::run`].
    pub fn request(&mut self, request: Request) -> RequestId {
        let id = RequestId(self.clients.len());
        let thread = request.thread.unwrap_or(id.0) % self.threads.len();
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
        loop {
            if self.agenda.next().is_none() && !self.is_anyone_waiting() {
                return Ended::Idle;
            }
            if !self.step(Duration::MAX) {
                return Ended::Stuck;
            }
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

    /// One thing happens, if any is due by `deadline`.
    fn step(&mut self, deadline: Duration) -> bool {
        self.happenings += 1;
        assert!(
            self.happenings < HAPPENINGS_LIMIT,
            "it never ends:\n{}",
            self.trace()
        );
        let timers = self.threads.iter().enumerate();
        let timers =
            timers.filter_map(|(index, thread)| thread.next_timer().map(|due| (due, index)));
        let timers: Vec<(Duration, usize)> = timers.collect();
        let first_timer = timers.iter().map(|(due, _)| *due).min();
        let first_item = self.agenda.next();
        let Some(due) = first_timer
            .into_iter()
            .chain(first_item.map(|(due, _)| due))
            .min()
        else {
            return false;
        };
        if due > deadline {
            return false;
        }
        self.now = self.now.max(due);
        let due_threads: Vec<usize> = timers
            .iter()
            .filter(|(timer, _)| *timer == due)
            .map(|(_, index)| *index)
            .collect();
        let item_is_due = first_item.is_some_and(|(item, _)| item == due);
        let choices = due_threads.len() as u64 + u64::from(item_is_due);
        let choice = self.random.next() % choices.max(1);
        match usize::try_from(choice)
            .ok()
            .and_then(|choice| due_threads.get(choice))
        {
            Some(thread) => self.advance(*thread),
            None => self.happen(),
        }
        true
    }

    fn happen(&mut self) {
        match self.agenda.take() {
            None => {}
            Some(Item::Send(id)) => self.send(id),
            Some(Item::Piece(id, index)) => self.piece(id, index),
            Some(Item::Leave(id)) => self.leave(id),
            Some(Item::Connect(key, result)) => self.connect(key, result),
            Some(Item::Play(key)) => self.play(key),
            Some(Item::Change(site, change)) => self.apply(site, change),
        }
    }

    fn send(&mut self, id: RequestId) {
        let client = &self.clients[id.0];
        let (thread, stream) = (client.thread, client.stream);
        let Request {
            has_body,
            listener,
            pause,
            ..
        } = client.request;
        let event = Event::RequestHeaders {
            stream,
            listener,
            peer: peer(id),
            headers: client.request.head(),
            end_stream: !has_body,
        };
        if has_body {
            self.plan(self.now + pause, Item::Piece(id, 0));
        }
        self.tell(thread, event);
    }

    fn piece(&mut self, id: RequestId, index: usize) {
        let client = &self.clients[id.0];
        let (thread, stream) = (client.thread, client.stream);
        // Who has the whole response sends no more.
        let Some(data) = client
            .request
            .pieces
            .get(index)
            .filter(|_| client.response.end == End::Pending)
        else {
            return;
        };
        let last = index + 1 == client.request.pieces.len();
        let event = Event::RequestData {
            stream,
            data: data.clone(),
            end_stream: last && client.request.complete,
        };
        if !last {
            self.plan(self.now + client.request.pause, Item::Piece(id, index + 1));
        }
        self.tell(thread, event);
    }

    fn leave(&mut self, id: RequestId) {
        let now = self.now;
        let client = &mut self.clients[id.0];
        if client.response.end == End::Pending {
            client.response.end = End::Left(now);
            let (thread, stream) = (client.thread, client.stream);
            self.tell(thread, Event::RequestReset { stream });
        }
    }

    fn connect(&mut self, key: Key, result: Result<(), host_sim_host::io::ResetReason>) {
        let (thread, upstream) = key;
        let Some(attempt) = self.attempts.get_mut(&key) else {
            return;
        };
        match result {
            Ok(()) => {
                attempt.connected = true;
                self.tell(thread, Event::UpstreamConnected { upstream });
                self.arrive(key);
            }
            Err(reason) => {
                self.attempts.remove(&key);
                self.tell(thread, Event::UpstreamReset { upstream, reason });
            }
        }
    }

    /// Gives the worker a request that is complete.
    fn arrive(&mut self, key: Key) {
        let Some(attempt) = self.attempts.get_mut(&key) else {
            return;
        };
        let Some((request, surplus)) = attempt.take_request() else {
            return;
        };
        let worker = &mut self.sites[attempt.site].worker;
        attempt.start(worker.answer(attempt.connection, request));
        if let Some(surplus) = surplus {
            worker.record(surplus);
        }
        self.plan(self.now, Item::Play(key));
    }

    fn play(&mut self, key: Key) {
        let (thread, upstream) = key;
        let Some(attempt) = self.attempts.get_mut(&key) else {
            return;
        };
        let releases = self.sites[attempt.site].worker.releases();
        match attempt.play(upstream, releases) {
            Played::Silence => {}
            Played::Wait(time) => self.plan(self.now + time, Item::Play(key)),
            Played::Event(event) => {
                self.plan(self.now, Item::Play(key));
                self.tell(thread, event);
            }
            Played::Last(event) => {
                self.end_attempt(key);
                self.tell(thread, event);
            }
        }
    }

    fn apply(&mut self, site: usize, change: Change) {
        let released = change == Change::Release;
        let breaks = self.sites[site].apply(change);
        let of_site = self
            .attempts
            .iter()
            .filter(|(_, attempt)| attempt.site == site && attempt.connected);
        let keys: Vec<Key> = of_site.map(|(key, _)| *key).collect();
        for key in keys {
            if released {
                self.plan(self.now, Item::Play(key));
            } else if breaks
                && let Some(event) = self.attempts.get(&key).map(|attempt| attempt.broken(key.1))
            {
                self.end_attempt(key);
                self.tell(key.0, event);
            }
        }
    }

    fn end_attempt(&mut self, key: Key) {
        let Some(attempt) = self.attempts.remove(&key) else {
            return;
        };
        let worker = &mut self.sites[attempt.site].worker;
        if let Some(cut) = attempt.cut() {
            worker.record(cut);
        }
        if attempt.answered {
            worker.finished(attempt.method());
        }
    }

    fn tell(&mut self, thread: usize, event: Event) {
        self.trace.add(self.now, thread, &event);
        let now = self.time();
        self.threads[thread].handle(now, event);
        self.carry_out(thread);
    }

    fn advance(&mut self, thread: usize) {
        self.trace.add(self.now, thread, &"timers");
        let now = self.time();
        self.threads[thread].advance(now);
        self.carry_out(thread);
    }

    fn time(&self) -> Now {
        Now {
            monotonic: self.now,
            wall: self.wall + self.now,
        }
    }

    fn plan(&mut self, at: Duration, item: Item) {
        let draw = self.random.next();
        self.agenda.add(at, draw, item);
    }

    fn site(&self, name: &str) -> usize {
        let known = |site: &Site| site.name == name || site.address.to_string() == name;
        self.sites
            .iter()
            .position(known)
            .unwrap_or_else(|| panic!("the configuration has no worker {name}"))
    }
}

/// Clients come from addresses of their own, as far as there are ports.
fn peer(id: RequestId) -> SocketAddr {
    let port = 40_000 + u16::try_from(id.0 % 20_000).unwrap_or_default();
    SocketAddr::from((Ipv4Addr::new(192, 0, 2, 1), port))
}

/// Address → id of the workers of a `gateway.json`.
fn worker_names(gateway_json: &str) -> BTreeMap<SocketAddr, String> {
    let document: serde_json::Value = serde_json::from_str(gateway_json).unwrap_or_default();
    let workers = document["workers"].as_array().cloned().unwrap_or_default();
    let named = workers.iter().filter_map(|worker| {
        Some((
            worker["address"].as_str()?.parse().ok()?,
            worker["id"].as_str()?.to_owned(),
        ))
    });
    named.collect()
}
