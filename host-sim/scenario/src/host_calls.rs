//! Counts what streams cost a module: every call between host and guest, by name. A wrapper around
//! the guests, so that neither the engine nor the modules know of it.

mod host;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use host_sim_host::abi::{self, Call, CodeId, LoadError, Trap, Vm, VmFactory};
use host_sim_host::config::VmConfig;

use host::Counting;

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

/// Counts by module, added up over all threads.
#[derive(Debug, Default)]
pub struct HostCallCounts(Mutex<BTreeMap<String, HostCalls>>);

impl HostCallCounts {
    /// Hands out the counts by module (the name of its file without `.wasm`) and begins anew.
    #[must_use]
    pub fn take(&self) -> BTreeMap<String, HostCalls> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn with(&self, module: &str, count: impl FnOnce(&mut HostCalls)) {
        let mut modules = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        count(modules.entry(module.to_owned()).or_default());
    }
}

/// Guests that are counted.
pub(crate) fn counting(
    factory: Arc<dyn VmFactory>,
    counts: &Arc<HostCallCounts>,
) -> Arc<dyn VmFactory> {
    Arc::new(Factory {
        factory,
        counts: counts.clone(),
    })
}

struct Factory {
    factory: Arc<dyn VmFactory>,
    counts: Arc<HostCallCounts>,
}

impl VmFactory for Factory {
    fn instantiate(&self, vm: &VmConfig) -> Result<Box<dyn Vm>, LoadError> {
        Ok(self.counted(vm, self.factory.instantiate(vm)?))
    }

    fn code(&self, vm: &VmConfig) -> Result<CodeId, LoadError> {
        self.factory.code(vm)
    }

    fn instantiate_code(&self, vm: &VmConfig, code: CodeId) -> Result<Box<dyn Vm>, LoadError> {
        Ok(self.counted(vm, self.factory.instantiate_code(vm, code)?))
    }
}

impl Factory {
    fn counted(&self, config: &VmConfig, vm: Box<dyn Vm>) -> Box<dyn Vm> {
        let module = Path::new(&config.code_path).file_stem().unwrap_or_default();
        Box::new(Guest {
            vm,
            module: module.to_string_lossy().into_owned(),
            counts: self.counts.clone(),
        })
    }
}

struct Guest {
    vm: Box<dyn Vm>,
    module: String,
    counts: Arc<HostCallCounts>,
}

impl Vm for Guest {
    fn start(&mut self, host: &mut dyn abi::HostCalls) -> Result<(), Trap> {
        self.vm.start(host)
    }

    fn call(&mut self, host: &mut dyn abi::HostCalls, call: &Call) -> Result<u32, Trap> {
        if !is_of_a_stream(call) || !self.vm.exports(call) {
            return self.vm.call(host, call);
        }
        let mut counted = HostCalls::default();
        let answer = self.vm.call(&mut Counting::new(host, &mut counted), call);
        self.counts.with(&self.module, |calls| {
            calls.add(&counted);
            if !matches!(call, Call::ContextCreate { .. } | Call::Delete { .. }) {
                let name = call.export().trim_start_matches("proxy_on_");
                *calls.callbacks.entry(name).or_default() += 1;
            }
        });
        answer
    }

    fn exports(&self, call: &Call) -> bool {
        self.vm.exports(call)
    }
}

impl HostCalls {
    fn add(&mut self, more: &HostCalls) {
        for (name, calls) in &more.bytes_back {
            *self.bytes_back.entry(name).or_default() += calls;
        }
        for (name, calls) in &more.other {
            *self.other.entry(name).or_default() += calls;
        }
    }
}

fn is_of_a_stream(call: &Call) -> bool {
    match call {
        Call::ContextCreate { parent, .. } => *parent != 0,
        Call::VmStart { .. }
        | Call::Configure { .. }
        | Call::Tick { .. }
        | Call::HttpCallResponse { .. } => false,
        _ => true,
    }
}
