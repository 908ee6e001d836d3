//! Guests of a worker: their VMs, root contexts, ticks, failure and reload.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::abi::{Call, CodeId, ContextId, MetricKind, Vm};
use crate::callouts::CalloutAnswer;
use crate::chain::{ChainKey, Filter, Side};
use crate::config::{FailurePolicy, Plugin, VmConfig};
use crate::engine::Engine;
use crate::filter::{Deferred, Failed};
use crate::filter_state::Declared;
use crate::grpc;
use crate::host_calls::{CallData, Guest};
use crate::nested::{Nesting, Told};
use crate::timers::{Timer, TimerId};
use crate::versions::Version;
use crate::worker::StartError;

/// Lines of a guest's log that are kept while it starts, for the error message.
const START_LOG_LINES: usize = 20;

/// One VM of this worker.
pub(crate) struct VmSlot {
    pub(crate) config: VmConfig,
    /// What its module's file held when it was first loaded.
    pub(crate) code: CodeId,
    /// No plugin uses it any more; the slot is free.
    pub(crate) gone: bool,
    /// `None` while its guest is on the stack, and after a failure.
    vm: Option<Box<dyn Vm>>,
    on_stack: bool,
    /// A guest that died in `proxy_on_context_create` of a root context, until its start is over.
    dead: Option<Box<dyn Vm>>,
    pub(crate) failed: bool,
    /// It failed in a callback of its own, not in its allocator.
    trapped: bool,
    /// One more with each reload.
    pub(crate) generation: u32,
    loaded_at: Duration,
    reload_after: Duration,
    next_context: ContextId,
    pub(crate) contexts: BTreeMap<ContextId, Owner>,
    /// Set by `proxy_set_effective_context`, for one call.
    pub(crate) effective: Option<ContextId>,
    /// Names of properties that contexts have declared.
    pub(crate) declared: BTreeMap<(ContextId, Vec<u8>), Declared>,
    pub(crate) deferred: VecDeque<(ContextId, Deferred)>,
    pub(crate) next_token: u32,
    pub(crate) metrics: BTreeMap<u32, (MetricKind, String)>,
    /// By kind: each counts its ids by itself.
    pub(crate) metrics_defined: BTreeMap<MetricKind, u32>,
    /// For `proxy_get_status`.
    pub(crate) status: (u32, Vec<u8>),
    /// While `proxy_on_http_call_response` runs.
    pub(crate) callout_answer: Option<CalloutAnswer>,
    pub(crate) grpc: grpc::Tokens,
    /// While a callback runs: what it is about.
    pub(crate) told: Told,
    pub(crate) nesting: Nesting,
    /// The last token given for a name that is looked up.
    pub(crate) lookup_token: u32,
    /// By context: the buffer that it looked at last, which is what "call data" mean.
    pub(crate) call_data: BTreeMap<ContextId, CallData>,
    /// While this plugin is configured.
    pub(crate) configuring: Option<usize>,
    /// While it starts: what it logged.
    pub(crate) start_log: Option<Vec<String>>,
}

/// Whose a context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Index of the plugin.
    Root(usize),
    Filter {
        chain: ChainKey,
        filter: usize,
    },
}

/// One distinct plugin of this worker.
pub(crate) struct PluginSlot {
    pub(crate) config: Arc<Plugin>,
    pub(crate) vm: usize,
    pub(crate) root: ContextId,
    pub(crate) tick_period: Option<Duration>,
    pub(crate) tick_timer: Option<TimerId>,
    pub(crate) life: Life,
}

/// How far a plugin's root context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// A configuration uses it, or will once it is ready.
    Live,
    /// `on_done` was answered with "not yet".
    Ending,
    /// `proxy_done` was called.
    Done,
    /// Deleted; the slot is free.
    Gone,
}

impl PluginSlot {
    /// Not started yet.
    pub(crate) fn new(config: Arc<Plugin>, vm: usize) -> Self {
        PluginSlot {
            config,
            vm,
            root: 0,
            tick_period: None,
            tick_timer: None,
            life: Life::Live,
        }
    }
}

impl VmSlot {
    pub(crate) fn new(config: VmConfig, code: CodeId) -> Self {
        VmSlot {
            config,
            code,
            gone: false,
            vm: None,
            on_stack: false,
            dead: None,
            failed: true,
            trapped: false,
            generation: 0,
            loaded_at: Duration::ZERO,
            reload_after: Duration::ZERO,
            next_context: 1,
            contexts: BTreeMap::new(),
            effective: None,
            declared: BTreeMap::new(),
            deferred: VecDeque::new(),
            next_token: 0,
            metrics: BTreeMap::new(),
            metrics_defined: BTreeMap::new(),
            status: (0, Vec::new()),
            callout_answer: None,
            grpc: grpc::Tokens::default(),
            told: Told::default(),
            nesting: Nesting::default(),
            lookup_token: 1,
            call_data: BTreeMap::new(),
            configuring: None,
            start_log: None,
        }
    }

    /// Whether its guest is in a call.
    pub(crate) fn is_on_stack(&self) -> bool {
        self.on_stack
    }

    pub(crate) fn new_context(&mut self, owner: Owner) -> ContextId {
        let context = self.next_context;
        self.next_context += 1;
        self.contexts.insert(context, owner);
        context
    }

    /// Takes the VM down.
    pub(crate) fn free(&mut self) {
        self.gone = true;
        self.failed = true;
        self.vm = None;
        self.contexts.clear();
        self.deferred.clear();
        self.metrics.clear();
    }

    /// A context is gone, and with it what it declared and looked at.
    pub(crate) fn forget(&mut self, context: ContextId) {
        self.contexts.remove(&context);
        self.call_data.remove(&context);
        let all = (context, Vec::new())..(context + 1, Vec::new());
        self.declared.extract_if(all, |_, _| true).for_each(drop);
    }

    /// Keeps a line for the error message of a start that fails.
    pub(crate) fn note(&mut self, line: &str) {
        if let Some(log) = self
            .start_log
            .as_mut()
            .filter(|log| log.len() < START_LOG_LINES)
        {
            log.push(line.to_owned());
        }
    }
}

impl Engine {
    /// A fresh VM with all its root contexts.
    pub(crate) fn load(&mut self, vm: usize) -> Result<(), StartError> {
        self.end_exchanges(|ear| ear.vm == vm);
        self.drop_lookups(|lookup| lookup.vm == vm);
        let generation = self.vms[vm].generation + 1;
        let fresh = VmSlot::new(self.vms[vm].config.clone(), self.vms[vm].code);
        let interval = self.reload_interval(vm);
        let jitter = self.random.below(interval / 2);
        let slot = &mut self.vms[vm];
        *slot = fresh;
        slot.generation = generation;
        slot.loaded_at = self.now.monotonic;
        slot.reload_after = interval + jitter;
        slot.start_log = Some(Vec::new());
        let guest = self
            .factory
            .instantiate_code(&self.vms[vm].config, self.vms[vm].code)
            .map_err(StartError::Load)?;
        let slot = &mut self.vms[vm];
        slot.vm = Some(guest);
        slot.failed = false;
        let plugins: Vec<usize> = (0..self.plugins.len())
            .filter(|&plugin| self.plugins[plugin].vm == vm)
            .filter(|&plugin| self.plugins[plugin].life == Life::Live)
            .collect();
        let started = self.start_vm(vm).is_ok();
        for plugin in plugins {
            if !started || !self.start_root(vm, plugin) {
                self.vms[vm].failed = true;
                let log = self.vms[vm].start_log.take().unwrap_or_default();
                return Err(StartError::Refused {
                    plugin: self.plugins[plugin].config.name.clone(),
                    log,
                });
            }
        }
        self.vms[vm].start_log = None;
        Ok(())
    }

    pub(crate) fn start_root(&mut self, vm: usize, plugin: usize) -> bool {
        let root = self.vms[vm].new_context(Owner::Root(plugin));
        let config = Arc::clone(&self.plugins[plugin].config);
        let timer = self.plugins[plugin].tick_timer.take();
        self.timers.cancel(timer);
        self.plugins[plugin].tick_period = None;
        self.plugins[plugin].root = root;
        let size = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let calls = [
            Call::ContextCreate {
                context: root,
                parent: 0,
            },
            Call::VmStart {
                root,
                size: size(&config.vm.configuration),
            },
            Call::Configure {
                root,
                size: size(&config.configuration),
            },
        ];
        let mut accepted = true;
        for call in &calls {
            // The plugin's configuration is not for `proxy_on_vm_start`.
            let hidden = matches!(call, Call::VmStart { .. });
            self.vms[vm].configuring = (!hidden).then_some(plugin);
            let created = matches!(call, Call::ContextCreate { .. });
            let answer = if matches!(call, Call::VmStart { .. }) {
                self.call_dead_or_alive(vm, root, call)
            } else {
                self.call_guest(vm, root, call)
            };
            accepted = self.accepts_start(vm, call, answer);
            if !accepted || (self.vms[vm].failed && !created) {
                break;
            }
        }
        self.vms[vm].dead = None;
        self.vms[vm].configuring = None;
        self.run_deferred_of_root(vm);
        accepted
    }

    /// Whether a start goes on after this call. A guest that died where no answer is asked for, or in
    /// its allocator, has refused nothing: Envoy starts with a dead VM.
    fn accepts_start(&self, vm: usize, call: &Call, answer: Result<u32, Failed>) -> bool {
        match answer {
            Ok(answer) => answer != 0 || matches!(call, Call::ContextCreate { .. }),
            Err(Failed) => !self.vms[vm].trapped || matches!(call, Call::ContextCreate { .. }),
        }
    }

    fn start_vm(&mut self, vm: usize) -> Result<(), Failed> {
        let Some(mut guest) = self.vms[vm].vm.take() else {
            return Err(Failed);
        };
        self.vms[vm].on_stack = true;
        let result = guest.start(&mut Guest::new(self, vm, 0));
        self.returned(vm, guest, result)
    }

    /// Calls an export in `context`. The guest's VM lies outside of the engine meanwhile, so that
    /// a callout can run other guests.
    pub(crate) fn call_guest(
        &mut self,
        vm: usize,
        context: ContextId,
        call: &Call,
    ) -> Result<u32, Failed> {
        if self.vms[vm].failed {
            return Err(Failed);
        }
        if self.vms[vm].on_stack {
            self.fail_vm(
                vm,
                &format!(
                    "{}: called while the same VM is in a call of its own",
                    call.export()
                ),
            );
            return Err(Failed);
        }
        let Some(mut guest) = self.vms[vm].vm.take() else {
            return Err(Failed);
        };
        let saved = self.vms[vm].effective.take();
        self.vms[vm].on_stack = true;
        let result = guest.call(&mut Guest::new(self, vm, context), call);
        self.vms[vm].effective = saved;
        self.returned(vm, guest, result)
    }

    /// The same for a guest that may have died in the call just before: Envoy looks at that only when
    /// `proxy_on_vm_start` has answered.
    fn call_dead_or_alive(
        &mut self,
        vm: usize,
        context: ContextId,
        call: &Call,
    ) -> Result<u32, Failed> {
        let Some(mut guest) = self.vms[vm].dead.take() else {
            return self.call_guest(vm, context, call);
        };
        self.vms[vm].on_stack = true;
        let result = guest.call(&mut Guest::new(self, vm, context), call);
        self.vms[vm].on_stack = false;
        self.vms[vm].effective = None;
        self.vms[vm].deferred.clear();
        result.map_err(|trap| {
            self.fail_vm(vm, &trap.0);
            Failed
        })
    }

    fn returned<T>(
        &mut self,
        vm: usize,
        guest: Box<dyn Vm>,
        result: Result<T, crate::abi::Trap>,
    ) -> Result<T, Failed> {
        self.vms[vm].on_stack = false;
        match result {
            Err(trap) => {
                self.fail_vm(vm, &trap.0);
                self.bury(vm, guest);
                Err(Failed)
            }
            Ok(_) if self.vms[vm].failed => {
                self.vms[vm].deferred.clear();
                self.bury(vm, guest);
                Err(Failed)
            }
            Ok(answer) => {
                self.vms[vm].vm = Some(guest);
                Ok(answer)
            }
        }
    }

    /// A guest that is dead is not needed any more, unless it dies while it starts.
    fn bury(&mut self, vm: usize, guest: Box<dyn Vm>) {
        if self.vms[vm].configuring.is_some() {
            self.vms[vm].dead = Some(guest);
        }
    }

    pub(crate) fn fail_vm(&mut self, vm: usize, reason: &str) {
        self.vms[vm].trapped = true;
        self.vms[vm].deferred.clear();
        self.kill(vm, reason);
    }

    /// No call goes into this VM any more; one that is under way ends by itself.
    pub(crate) fn kill(&mut self, vm: usize, reason: &str) {
        let slot = &mut self.vms[vm];
        slot.failed = true;
        slot.note(reason);
        let text = format!("wasm {}: {reason}", slot.config.code_path);
        self.log("critical", text);
    }

    /// How long a VM of this must have lived before it is replaced: the shortest of its plugins.
    fn reload_interval(&self, vm: usize) -> Duration {
        let intervals = self
            .plugins
            .iter()
            .filter(|slot| slot.vm == vm && slot.life == Life::Live)
            .filter_map(|slot| match slot.config.failure_policy {
                FailurePolicy::Reload { base_interval } => Some(base_interval),
                FailurePolicy::Closed | FailurePolicy::Open => None,
            });
        intervals.min().unwrap_or_default()
    }

    /// A filter for a new stream; a dead VM is replaced now, if its policy and age allow.
    pub(crate) fn new_filter(&mut self, version: &Version, plugin: &Arc<Plugin>) -> Option<Filter> {
        let index = self.plugin_index(version, plugin)?;
        let vm = self.plugins[index].vm;
        let slot = &self.vms[vm];
        let old_enough = self.now.monotonic >= slot.loaded_at + slot.reload_after;
        let reloads = matches!(plugin.failure_policy, FailurePolicy::Reload { .. });
        if slot.failed && reloads && !old_enough {
            self.count_plugin(plugin, "vm_reload_backoff");
        } else if slot.failed && reloads && !slot.on_stack {
            let code_path = slot.config.code_path.clone();
            let loaded = self.load(vm);
            self.count_plugin(
                plugin,
                match loaded {
                    Ok(()) => "vm_reload_success",
                    Err(_) => "vm_reload_failure",
                },
            );
            match loaded {
                Ok(()) => self.log("info", format!("wasm {code_path}: reloaded")),
                Err(error) => self.log("error", format!("wasm {code_path}: not reloaded: {error}")),
            }
        }
        Some(Filter {
            plugin: index,
            generation: self.vms[vm].generation,
            context: None,
            absent: self.vms[vm].failed && plugin.failure_policy == FailurePolicy::Open,
            failure_reply_sent: false,
            logging: false,
            decode: Side::default(),
            encode: Side::default(),
        })
    }

    /// Sets or stops the tick of a plugin's root context.
    pub(crate) fn set_tick(&mut self, plugin: usize, period: Duration) {
        let old = self.plugins[plugin].tick_timer.take();
        self.timers.cancel(old);
        self.plugins[plugin].tick_period = (!period.is_zero()).then_some(period);
        self.arm_tick(plugin);
    }

    fn arm_tick(&mut self, plugin: usize) {
        let Some(period) = self.plugins[plugin].tick_period else {
            return;
        };
        let generation = self.vms[self.plugins[plugin].vm].generation;
        let id = self.timers.set(
            self.now.monotonic + period,
            Timer::Tick { plugin, generation },
        );
        self.plugins[plugin].tick_timer = Some(id);
    }

    pub(crate) fn tick(&mut self, plugin: usize, generation: u32) {
        let (vm, root) = (self.plugins[plugin].vm, self.plugins[plugin].root);
        self.plugins[plugin].tick_timer = None;
        if self.vms[vm].failed || self.vms[vm].generation != generation {
            return;
        }
        if self.call_guest(vm, root, &Call::Tick { root }).is_ok() {
            self.run_deferred_of_root(vm);
            if self.plugins[plugin].tick_timer.is_none() {
                self.arm_tick(plugin);
            }
        }
    }
}
