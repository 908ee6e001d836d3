//! Guests that are closures, with a journal of all their callbacks.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use host_sim_host::abi::{Call, CodeId, HostCalls, LoadError, Trap, Vm, VmFactory};
use host_sim_host::config::VmConfig;

/// What a guest does in a callback: `None` is the default answer.
pub type Script = Arc<dyn Fn(&mut dyn HostCalls, &Call) -> Result<Option<u32>, Trap> + Send + Sync>;

/// Pause.
pub const PAUSE: u32 = 1;

/// A guest that lets everything pass.
pub fn passes() -> Script {
    Arc::new(|_, _| Ok(None))
}

/// A guest from a closure that cannot trap.
pub fn guest(
    script: impl Fn(&mut dyn HostCalls, &Call) -> Option<u32> + Send + Sync + 'static,
) -> Script {
    Arc::new(move |host, call| Ok(script(host, call)))
}

/// A guest that panics in the callbacks that the test picks, while the switch is on.
pub fn panics(switch: &Arc<AtomicBool>, picks: fn(&Call) -> bool) -> Script {
    let switch = Arc::clone(switch);
    Arc::new(move |_, call| {
        if switch.load(Ordering::Relaxed) && picks(call) {
            Err(Trap("panic".to_owned()))
        } else {
            Ok(None)
        }
    })
}

struct Fake {
    name: String,
    script: Script,
    journal: Arc<Mutex<Vec<String>>>,
}

impl Vm for Fake {
    fn start(&mut self, _host: &mut dyn HostCalls) -> Result<(), Trap> {
        Ok(())
    }

    fn call(&mut self, host: &mut dyn HostCalls, call: &Call) -> Result<u32, Trap> {
        let word = call.export().trim_start_matches("proxy_on_");
        let line = match call {
            Call::RequestBody {
                size,
                end_of_stream,
                ..
            }
            | Call::ResponseBody {
                size,
                end_of_stream,
                ..
            } => {
                format!(
                    "{} {word} {size}{}",
                    self.name,
                    if *end_of_stream { " end" } else { "" }
                )
            }
            _ => format!("{} {word}", self.name),
        };
        self.journal.lock().unwrap().push(line);
        Ok((self.script)(host, call)?.unwrap_or(call.default_answer()))
    }
}

pub struct Factory {
    pub(super) scripts: Mutex<BTreeMap<String, Script>>,
    /// Builds of modules by path.
    pub(super) builds: Mutex<BTreeMap<String, u8>>,
    pub(super) journal: Arc<Mutex<Vec<String>>>,
}

impl VmFactory for Factory {
    fn instantiate(&self, vm: &VmConfig) -> Result<Box<dyn Vm>, LoadError> {
        Ok(Box::new(Fake {
            name: vm.code_path.clone(),
            script: Arc::clone(&self.scripts.lock().unwrap()[&vm.code_path]),
            journal: Arc::clone(&self.journal),
        }))
    }

    fn code(&self, vm: &VmConfig) -> Result<CodeId, LoadError> {
        let builds = self.builds.lock().unwrap();
        let build = builds.get(&vm.code_path).copied().unwrap_or_default();
        Ok(CodeId([build; 32]))
    }
}
