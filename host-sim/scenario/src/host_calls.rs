//! Counts what streams cost a module: every call between host and guest, by name.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use host_sim_host::abi::watch::{Answered, Asked, View, Watcher, Whose};
use host_sim_host::abi::{Call, Trap};

/// Calls of one module for streams. Those of its root context (start, configuration, ticks, answers
/// to callouts) are left out: they do not grow with the requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostCalls {
    /// Calls that handed bytes back, by name. They are the dear ones: the host asks the guest for memory.
    pub bytes_back: BTreeMap<&'static str, u32>,
    /// All other calls by name, among them those that found nothing.
    pub other: BTreeMap<&'static str, u32>,
    /// Callbacks that ran, by name, without the beginning and end of the context (`context_create`, `delete`).
    pub callbacks: BTreeMap<&'static str, u32>,
}

/// Counts by module, added up over all threads: one of [`crate::Setup::watchers`].
#[derive(Debug, Default)]
pub struct HostCallCounts(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    modules: BTreeMap<String, HostCalls>,
    /// By thread: whether the calls that are under way are for streams, the innermost last. A callout runs
    /// other guests meanwhile, so there may be several.
    under_way: BTreeMap<usize, Vec<bool>>,
}

impl HostCallCounts {
    /// Hands out the counts by module (the name of its file without `.wasm`) and begins anew.
    #[must_use]
    pub fn take(&self) -> BTreeMap<String, HostCalls> {
        std::mem::take(&mut self.counts().modules)
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watcher for HostCallCounts {
    fn called(&self, whose: &Whose, call: &Call, _view: &mut View<'_>) {
        let mut counts = self.counts();
        let of_a_stream = is_of_a_stream(call);
        let under_way = counts.under_way.entry(whose.thread).or_default();
        under_way.push(of_a_stream);
        if of_a_stream && !matches!(call, Call::ContextCreate { .. } | Call::Delete { .. }) {
            let calls = counts.modules.entry(whose.module.clone()).or_default();
            let name = call.export().trim_start_matches("proxy_on_");
            *calls.callbacks.entry(name).or_default() += 1;
        }
    }

    fn answered(&self, whose: &Whose, asked: &Asked<'_>, answered: &Answered<'_>) {
        let mut counts = self.counts();
        let under_way = counts.under_way.get(&whose.thread);
        if under_way.and_then(|calls| calls.last()) != Some(&true) {
            return;
        }
        let calls = counts.modules.entry(whose.module.clone()).or_default();
        let calls = if hands_bytes_back(asked) && !matches!(answered, Answered::Refused(_)) {
            &mut calls.bytes_back
        } else {
            &mut calls.other
        };
        *calls.entry(asked.name()).or_default() += 1;
    }

    fn returned(
        &self,
        whose: &Whose,
        _call: &Call,
        _answer: Result<u32, &Trap>,
        _instructions: u64,
        _view: &mut View<'_>,
    ) {
        let mut counts = self.counts();
        if let Some(under_way) = counts.under_way.get_mut(&whose.thread) {
            under_way.pop();
        }
    }
}

/// Calls whose answer is put into memory that the guest hands out, if there is one. The one foreign
/// function that filters call, `clear_route_cache`, answers with nothing.
fn hands_bytes_back(asked: &Asked<'_>) -> bool {
    matches!(
        asked,
        Asked::GetProperty { .. }
            | Asked::GetHeaderMapPairs { .. }
            | Asked::GetHeaderMapValue { .. }
            | Asked::GetBufferBytes { .. }
            | Asked::GetSharedData { .. }
    )
}

fn is_of_a_stream(call: &Call) -> bool {
    match call {
        Call::ContextCreate { parent, .. } => *parent != 0,
        Call::VmStart { .. }
        | Call::Configure { .. }
        | Call::Tick { .. }
        | Call::QueueReady { .. }
        | Call::ResolveDns { .. }
        | Call::HttpCallResponse { .. }
        | Call::GrpcReceiveInitialMetadata { .. }
        | Call::GrpcReceive { .. }
        | Call::GrpcReceiveTrailingMetadata { .. }
        | Call::GrpcClose { .. } => false,
        _ => true,
    }
}
