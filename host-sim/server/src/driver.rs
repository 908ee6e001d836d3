//! Between one simulated worker and the connections of its thread.
//!
//! Connections call [`Driver::send`]; the commands that come of it are carried out at once, but
//! only into buffers: no command sends an event, so nothing is entered twice.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use host_sim_host::io::{Command, ConnectionId, Event, Now, StreamId, UpstreamId};
use host_sim_host::{Process, StartError, Update, Worker};
use tokio::sync::Notify;

use crate::client::Client;
use crate::clock::Clock;
use crate::logs::Logs;
use crate::resolve::resolve;
use crate::upstream::attempt::Attempt;
use crate::upstream::http2::Connections;
use crate::upstream::pool::{Pool, Target};
use crate::wakers::Wakers;

/// A simulated worker as the driver needs it; a fake one serves in tests.
pub trait Engine {
    /// Something happened.
    fn handle(&mut self, now: Now, event: Event);
    /// Timers that are due run.
    fn advance(&mut self, now: Now);
    /// When the next timer is due, in monotonic time.
    fn next_timer(&self) -> Option<Duration>;
    /// Loads and configures what another configuration needs. A fake one has none.
    ///
    /// # Errors
    /// Why it cannot.
    fn prepare(&mut self, _now: Now, _update: &Update) -> Result<(), StartError> {
        Ok(())
    }
    /// New requests go by what was prepared.
    fn commit(&mut self, _now: Now, _update: &Update) {}
    /// What was prepared will not come.
    fn abandon(&mut self, _now: Now) {}
    /// An entrance that is gone is served no more.
    fn close_entrance(&mut self, _now: Now, _number: usize) {}
    /// What came of it, in order.
    fn take_commands(&mut self) -> Vec<Command>;
}

impl Engine for Worker {
    fn handle(&mut self, now: Now, event: Event) {
        Worker::handle(self, now, event);
    }

    fn advance(&mut self, now: Now) {
        Worker::advance(self, now);
    }

    fn next_timer(&self) -> Option<Duration> {
        Worker::next_timer(self)
    }

    fn prepare(&mut self, now: Now, update: &Update) -> Result<(), StartError> {
        Worker::prepare(self, update, now)
    }

    fn commit(&mut self, now: Now, update: &Update) {
        Worker::commit(self, update, now);
    }

    fn abandon(&mut self, now: Now) {
        Worker::abandon(self, now);
    }

    fn close_entrance(&mut self, now: Now, number: usize) {
        Worker::close_entrance(self, number, now);
    }

    fn take_commands(&mut self) -> Vec<Command> {
        Worker::take_commands(self)
    }
}

/// One thread's worker and what is connected to it.
pub struct Driver {
    engine: RefCell<Box<dyn Engine>>,
    clock: Clock,
    /// For its statistics.
    pub process: Arc<Process>,
    logs: RefCell<Logs>,
    clients: RefCell<HashMap<StreamId, Rc<Client>>>,
    attempts: RefCell<HashMap<UpstreamId, Rc<Attempt>>>,
    next_stream: Cell<u64>,
    next_connection: Cell<u64>,
    timer_moved: Notify,
    /// Entrances whose connections end as soon as no request is under way.
    closed: RefCell<BTreeSet<usize>>,
    /// Connections by entrance.
    connections: RefCell<BTreeMap<usize, usize>>,
    /// Wakes connections that wait for a request: an entrance was closed.
    pub entrance_closed: Notify,
    wakers: Wakers,
    /// Connections to workers that wait for their next request.
    pub pool: Pool,
    /// Connections over HTTP/2.
    pub http2: Connections,
    /// One read of any connection; large enough that a prompt comes in few pieces.
    pub read_buffer: RefCell<Vec<u8>>,
}

/// Most bytes of one read.
const READ_BYTES: usize = 64 * 1024;

impl Driver {
    /// Takes over a worker that is ready.
    #[must_use]
    pub fn new(
        engine: Box<dyn Engine>,
        process: Arc<Process>,
        clock: Clock,
        logs: Logs,
        wakers: Wakers,
    ) -> Rc<Self> {
        Rc::new(Driver {
            process,
            engine: RefCell::new(engine),
            clock,
            logs: RefCell::new(logs),
            clients: RefCell::default(),
            attempts: RefCell::default(),
            next_stream: Cell::new(1),
            next_connection: Cell::new(1),
            timer_moved: Notify::new(),
            closed: RefCell::default(),
            connections: RefCell::default(),
            entrance_closed: Notify::new(),
            wakers,
            pool: Pool::default(),
            http2: Connections::default(),
            read_buffer: RefCell::new(vec![0; READ_BYTES]),
        })
    }

    /// A new request of `client`: its commands will find it.
    pub fn begin_stream(&self, client: &Rc<Client>) -> StreamId {
        let stream = StreamId(self.next_stream.get());
        self.next_stream.set(stream.0 + 1);
        self.clients.borrow_mut().insert(stream, client.clone());
        stream
    }

    /// The client is gone; what the worker still says to it is dropped.
    pub fn forget_stream(&self, stream: StreamId) {
        self.clients.borrow_mut().remove(&stream);
    }

    /// The attempt is over.
    pub fn forget_attempt(&self, upstream: UpstreamId) {
        self.attempts.borrow_mut().remove(&upstream);
    }

    /// Tells the worker and carries out what it wants.
    pub fn send(self: &Rc<Self>, event: Event) {
        self.enter(|engine, now| engine.handle(now, event));
    }

    /// Gets ready for another configuration; requests wait as long as that takes.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn prepare(self: &Rc<Self>, update: &Update) -> Result<(), String> {
        self.enter(|engine, now| engine.prepare(now, update))
            .map_err(|error| error.to_string())
    }

    /// New requests go by what was prepared.
    pub fn commit(self: &Rc<Self>, update: &Update) {
        self.closed
            .borrow_mut()
            .retain(|number| !update.listeners.contains(number));
        self.enter(|engine, now| engine.commit(now, update));
    }

    /// What was prepared will not come.
    pub fn abandon(self: &Rc<Self>) {
        self.enter(|engine, now| engine.abandon(now));
    }

    /// Connections of this entrance end, each after the request that is under way.
    pub fn close_entrance(self: &Rc<Self>, number: usize) {
        self.closed.borrow_mut().insert(number);
        self.entrance_closed.notify_waiters();
        self.close_if_empty(number);
    }

    /// A connection of this entrance begins.
    pub fn connection_begins(&self, entrance: usize) -> ConnectionId {
        *self.connections.borrow_mut().entry(entrance).or_default() += 1;
        let id = ConnectionId(self.next_connection.get());
        self.next_connection.set(id.0 + 1);
        id
    }

    /// It has ended.
    pub fn connection_ends(self: &Rc<Self>, entrance: usize) {
        if let Some(count) = self.connections.borrow_mut().get_mut(&entrance) {
            *count = count.saturating_sub(1);
        }
        self.close_if_empty(entrance);
    }

    fn close_if_empty(self: &Rc<Self>, number: usize) {
        let empty = self
            .connections
            .borrow()
            .get(&number)
            .is_none_or(|count| *count == 0);
        if empty && self.is_closed(number) {
            self.enter(|engine, now| engine.close_entrance(now, number));
        }
    }

    /// See [`Driver::close_entrance`].
    #[must_use]
    pub fn is_closed(&self, entrance: usize) -> bool {
        !self.closed.borrow().is_empty() && self.closed.borrow().contains(&entrance)
    }

    /// Runs the worker's timers for as long as the thread lives.
    pub async fn run_timers(self: Rc<Self>) {
        // What the worker wants right after its start.
        self.enter(|engine, now| engine.advance(now));
        loop {
            let due = self
                .engine
                .borrow()
                .next_timer()
                .map(|due| self.clock.instant(due));
            let timer = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = timer => self.enter(|engine, now| engine.advance(now)),
                () = self.timer_moved.notified() => {}
            }
        }
    }

    /// Lets the worker hear what others have put into its queues, for as long as the thread lives.
    pub async fn run_wakes(self: Rc<Self>, thread: usize) {
        loop {
            self.wakers.woken(thread).await;
            self.send(Event::Woken);
        }
    }

    /// A line of the simulator's own.
    pub fn log(&self, level: &str, text: &str) {
        self.logs.borrow().log(self.clock.now().wall, level, text);
    }

    fn enter<T>(self: &Rc<Self>, act: impl FnOnce(&mut dyn Engine, Now) -> T) -> T {
        let (result, commands) = {
            let mut engine = self.engine.borrow_mut();
            let timer = engine.next_timer();
            let result = act(engine.as_mut(), self.clock.now());
            if engine.next_timer() != timer {
                self.timer_moved.notify_one();
            }
            (result, engine.take_commands())
        };
        for command in commands {
            self.carry_out(command);
        }
        result
    }

    fn carry_out(self: &Rc<Self>, command: Command) {
        match command {
            Command::SendHeaders {
                stream,
                headers,
                end_stream,
            } => {
                self.with_client(stream, end_stream, |client| {
                    client.headers(&headers, end_stream)
                });
            }
            Command::SendData {
                stream,
                data,
                end_stream,
            } => {
                self.with_client(stream, end_stream, |client| client.data(&data, end_stream));
            }
            Command::SendTrailers { stream, trailers } => {
                self.with_client(stream, true, |client| client.trailers(&trailers));
            }
            Command::ResetStream { stream } => self.with_client(stream, true, Client::break_off),
            Command::OpenUpstream {
                upstream,
                stream,
                cluster,
                address,
                connect_timeout,
                http2,
                http1,
            } => {
                let client = stream.and_then(|stream| self.clients.borrow().get(&stream).cloned());
                let attempt = Attempt::new(upstream, client.as_ref(), http2.is_some(), http1);
                if let Some(client) = client {
                    client.add_attempt(&attempt);
                }
                self.attempts.borrow_mut().insert(upstream, attempt.clone());
                let target = Target { cluster, address };
                crate::upstream::open(self, attempt, target, connect_timeout, http2);
            }
            Command::SendUpstreamHeaders {
                upstream,
                headers,
                end_stream,
            } => {
                self.with_attempt(upstream, |attempt| attempt.headers(&headers, end_stream));
            }
            Command::SendUpstreamData {
                upstream,
                data,
                end_stream,
            } => {
                self.with_attempt(upstream, |attempt| attempt.data(&data, end_stream));
            }
            Command::SendUpstreamTrailers { upstream, trailers } => {
                self.with_attempt(upstream, |attempt| attempt.trailers(trailers));
            }
            Command::CancelUpstream { upstream } => {
                self.with_attempt(upstream, Attempt::end);
                self.forget_attempt(upstream);
            }
            Command::Resolve { lookup, name } => {
                tokio::task::spawn_local(resolve(self.clone(), lookup, name));
            }
            Command::Wake { thread } => self.wakers.wake(thread),
            Command::AccessLog { path, line, .. } => self.logs.borrow_mut().access(&path, &line),
            Command::Log { level, text } => self.log(level, &text),
        }
    }

    fn with_client(&self, stream: StreamId, last: bool, act: impl FnOnce(&Client)) {
        let client = self.clients.borrow().get(&stream).cloned();
        if let Some(client) = client {
            act(&client);
        }
        if last {
            self.forget_stream(stream);
        }
    }

    fn with_attempt(&self, upstream: UpstreamId, act: impl FnOnce(&Attempt)) {
        let attempt = self.attempts.borrow().get(&upstream).cloned();
        if let Some(attempt) = attempt {
            act(&attempt);
        }
    }
}
