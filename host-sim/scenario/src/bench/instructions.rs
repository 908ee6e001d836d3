//! Instructions by module and callback.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use host_sim_host::abi::watch::{View, Watcher, Whose};
use host_sim_host::abi::{Call, Trap};

/// What a callback is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purpose {
    /// A request.
    Stream,
    /// The start of a VM with its plugins.
    Start,
    /// Ticks, and answers to callouts.
    Background,
}

/// Module and callback.
pub(super) type Place = (String, &'static str);

/// How often it ran, and the instructions of all times together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) calls: u64,
    pub(super) instructions: u64,
}

/// The one worker thread. The main thread has the same starts, several times over.
const WORKER: usize = 0;

/// Counts requests and starts of the worker thread, and the background of all threads: one of [`crate::Setup::watchers`].
#[derive(Debug, Default)]
pub struct InstructionCounts(Mutex<BTreeMap<Purpose, BTreeMap<Place, Cost>>>);

impl InstructionCounts {
    /// Hands out what was counted for a purpose, and begins anew for all.
    pub(super) fn take(&self, purpose: Purpose) -> BTreeMap<Place, Cost> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = counts.remove(&purpose).unwrap_or_default();
        counts.clear();
        taken
    }

    fn add(&self, purpose: Purpose, whose: &Whose, callback: &'static str, instructions: u64) {
        if whose.thread != WORKER && purpose != Purpose::Background {
            return;
        }
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let places = counts.entry(purpose).or_default();
        let cost = places.entry((whose.module.clone(), callback)).or_default();
        cost.calls += 1;
        cost.instructions += instructions;
    }
}

impl Watcher for InstructionCounts {
    fn started(&self, whose: &Whose, _result: Result<(), &Trap>, instructions: u64) {
        self.add(Purpose::Start, whose, "start", instructions);
    }

    fn returned(
        &self,
        whose: &Whose,
        call: &Call,
        _answer: Result<u32, &Trap>,
        instructions: u64,
        _view: &mut View<'_>,
    ) {
        let purpose = match call {
            Call::VmStart { .. } | Call::Configure { .. } => Purpose::Start,
            Call::ContextCreate { parent: 0, .. } => Purpose::Start,
            Call::Tick { .. }
            | Call::QueueReady { .. }
            | Call::ResolveDns { .. }
            | Call::HttpCallResponse { .. }
            | Call::GrpcReceiveInitialMetadata { .. }
            | Call::GrpcReceive { .. }
            | Call::GrpcReceiveTrailingMetadata { .. }
            | Call::GrpcClose { .. } => Purpose::Background,
            _ => Purpose::Stream,
        };
        let callback = call.export().trim_start_matches("proxy_on_");
        self.add(purpose, whose, callback, instructions);
    }
}
