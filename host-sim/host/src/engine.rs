//! The state of one worker thread, and the way events take into it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::abi::VmFactory;
use crate::callouts::Callout;
use crate::chain::ChainKey;
use crate::connections::Connection;
use crate::grpc::Exchange;
use crate::guests::{PluginSlot, VmSlot};
use crate::io::{Command, ConnectionId, Event, Headers, LookupId, Now, UpstreamId};
use crate::lookups::Lookup;
use crate::process::Process;
use crate::random::Random;
use crate::router::Attempt;
use crate::stream::{Stream, StreamKey};
use crate::timers::{Timer, Timers};
use crate::versions::Versions;

/// Everything of one worker.
pub(crate) struct Engine {
    pub(crate) process: Arc<Process>,
    pub(crate) factory: Arc<dyn VmFactory>,
    pub(crate) now: Now,
    pub(crate) random: Random,
    /// Of the worker, from 0.
    pub(crate) index: usize,
    /// It is the main thread: what is new is tried out here first.
    pub(crate) is_main: bool,
    pub(crate) versions: Versions,
    pub(crate) vms: Vec<VmSlot>,
    pub(crate) plugins: Vec<PluginSlot>,
    pub(crate) streams: BTreeMap<StreamKey, Stream>,
    /// Connections of clients that may carry further requests.
    pub(crate) connections: BTreeMap<ConnectionId, Connection>,
    pub(crate) attempts: BTreeMap<UpstreamId, Attempt>,
    pub(crate) callouts: BTreeMap<u64, Callout>,
    /// Calls and streams over gRPC; they share their numbers with `callouts`.
    pub(crate) exchanges: BTreeMap<u64, Exchange>,
    pub(crate) lookups: BTreeMap<LookupId, Lookup>,
    pub(crate) timers: Timers,
    pub(crate) commands: Vec<Command>,
    /// Last number given to an attempt, a callout, a lookup, a connection.
    pub(crate) numbers: Numbers,
    /// Next member by cluster.
    pub(crate) round_robin: BTreeMap<String, usize>,
    said: BTreeSet<String>,
}

/// Counters for names.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    pub(crate) upstream: u64,
    pub(crate) callout: u64,
    pub(crate) lookup: u64,
    pub(crate) connection: u64,
}

impl Engine {
    pub(crate) fn new(
        process: Arc<Process>,
        index: usize,
        factory: Arc<dyn VmFactory>,
        now: Now,
    ) -> Self {
        let random = Random::new(process.seed(), index as u64);
        let versions = Versions::new(process.config());
        Engine {
            index,
            is_main: false,
            versions,
            process,
            factory,
            now,
            random,
            vms: Vec::new(),
            plugins: Vec::new(),
            streams: BTreeMap::new(),
            connections: BTreeMap::new(),
            attempts: BTreeMap::new(),
            callouts: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            lookups: BTreeMap::new(),
            timers: Timers::default(),
            commands: Vec::new(),
            numbers: Numbers::default(),
            round_robin: BTreeMap::new(),
            said: BTreeSet::new(),
        }
    }

    pub(crate) fn handle(&mut self, event: Event) {
        match event {
            Event::RequestHeaders {
                stream,
                listener,
                peer,
                connection,
                headers,
                end_stream,
            } => {
                let client = (peer, connection);
                self.request_headers_came(stream, listener, client, headers, end_stream);
            }
            Event::ConnectionEnded { connection } => self.connection_ended(connection),
            Event::RequestData {
                stream,
                data,
                end_stream,
            } => self.request_data_came(stream, data, end_stream),
            Event::RequestTrailers { stream, trailers } => {
                self.request_trailers_came(stream, trailers);
            }
            Event::RequestReset { stream } => self.client_left(stream),
            Event::RequestBroken {
                stream,
                status,
                details,
            } => self.request_broke(stream, status, details),
            Event::RequestRejected {
                stream,
                listener,
                peer,
                status,
                details,
            } => {
                self.request_rejected(stream, listener, peer, status, details);
            }
            Event::UpstreamConnected { upstream } => self.upstream_connected(upstream),
            Event::ResponseHeaders {
                upstream,
                headers,
                end_stream,
            } => {
                self.response_headers_came(upstream, headers, end_stream);
            }
            Event::ResponseData {
                upstream,
                data,
                end_stream,
            } => {
                self.response_data_came(upstream, data, end_stream);
            }
            Event::ResponseTrailers { upstream, trailers } => {
                self.response_trailers_came(upstream, trailers)
            }
            Event::Resolved { lookup, addresses } => self.looked_up(lookup, &addresses),
            Event::Woken => self.woken(),
            Event::UpstreamReset { upstream, reason } => self.upstream_reset(upstream, &reason),
        }
    }

    pub(crate) fn fire(&mut self, timer: Timer) {
        match timer {
            Timer::Tick { plugin, generation } => self.tick(plugin, generation),
            Timer::StreamIdle(key) => self.stream_idle(key),
            Timer::Response(key) => self.response_timeout(key),
            Timer::Retry(key) => self.retry_due(key),
            Timer::PerTry(id) => self.per_try_timeout(id),
            Timer::PerTryIdle(id) => self.per_try_idle_timeout(id),
        }
    }

    pub(crate) fn log(&mut self, level: &'static str, text: String) {
        self.commands.push(Command::Log { level, text });
    }

    /// Logs a line the first time it is said.
    pub(crate) fn log_once(&mut self, level: &'static str, text: String) {
        if self.said.insert(text.clone()) {
            self.log(level, text);
        }
    }

    /// The stream a chain serves.
    pub(crate) fn stream_of(&self, key: ChainKey) -> Option<StreamKey> {
        match key {
            ChainKey::Stream(stream) => Some(stream),
            ChainKey::Attempt(id) => self.attempts.get(&id).map(|attempt| attempt.stream),
        }
    }

    /// The one map of request headers.
    pub(crate) fn request_headers(&mut self, key: ChainKey) -> Option<&mut Headers> {
        let stream = self.stream_of(key)?;
        self.streams
            .get_mut(&stream)
            .map(|stream| &mut stream.request_headers)
    }
}
