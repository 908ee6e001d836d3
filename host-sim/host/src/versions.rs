//! The configurations of a worker: the one that new requests go by, and earlier ones that requests
//! under way still go by. Each names its root contexts; two that agree on a plugin share its root
//! context, two that agree on code and `vm_config` share the VM.

use std::sync::Arc;

use crate::abi::Call;
use crate::config::{Bootstrap, Listener, Plugin};
use crate::engine::Engine;
use crate::guests::{Life, PluginSlot, VmSlot};
use crate::update::Update;
use crate::worker::StartError;

/// One configuration on one worker. It lasts as long as a request or an entrance holds it.
#[derive(Debug)]
pub(crate) struct Version {
    pub(crate) config: Arc<Bootstrap>,
    /// Indexes of its plugins.
    plugins: Vec<usize>,
}

/// Where requests come in.
#[derive(Clone, Debug)]
pub(crate) struct Entrance {
    pub(crate) version: Arc<Version>,
    /// Index of the listener in that version.
    pub(crate) index: usize,
    /// The present configuration has it no more: its connections end with their next response.
    pub(crate) closing: bool,
}

/// All configurations of a worker.
#[derive(Debug)]
pub(crate) struct Versions {
    current: Arc<Version>,
    earlier: Vec<Arc<Version>>,
    /// By number; `None` once it is closed.
    entrances: Vec<Option<Entrance>>,
    prepared: Option<Arc<Version>>,
}

impl Entrance {
    pub(crate) fn listener(&self) -> Option<&Listener> {
        self.version.config.listeners.get(self.index)
    }
}

impl Versions {
    pub(crate) fn new(config: Arc<Bootstrap>) -> Self {
        let numbers: Vec<usize> = (0..config.listeners.len()).collect();
        let mut versions = Versions {
            current: Arc::new(Version {
                config,
                plugins: Vec::new(),
            }),
            earlier: Vec::new(),
            entrances: Vec::new(),
            prepared: None,
        };
        versions.open(&numbers);
        versions
    }

    pub(crate) fn current(&self) -> Arc<Version> {
        Arc::clone(&self.current)
    }

    pub(crate) fn count(&self) -> usize {
        1 + self.earlier.len()
    }

    pub(crate) fn entrance(&self, number: usize) -> Option<Entrance> {
        self.entrances.get(number).cloned().flatten()
    }

    /// Points the entrances with these numbers at the current version.
    fn open(&mut self, numbers: &[usize]) {
        for entrance in self.entrances.iter_mut().flatten() {
            entrance.closing = true;
        }
        for (index, number) in numbers.iter().enumerate() {
            if self.entrances.len() <= *number {
                self.entrances.resize(number + 1, None);
            }
            self.entrances[*number] = Some(Entrance {
                version: Arc::clone(&self.current),
                index,
                closing: false,
            });
        }
    }

    fn uses(&self, plugin: usize) -> bool {
        let versions = self.earlier.iter().chain(&self.prepared);
        std::iter::once(&self.current)
            .chain(versions)
            .any(|version| version.plugins.contains(&plugin))
    }
}

/// Every plugin of a configuration: those of clusters first, as Envoy starts them.
fn plugins_of(config: &Bootstrap) -> impl Iterator<Item = &Arc<Plugin>> {
    let upstream = config
        .clusters
        .values()
        .flat_map(|cluster| &cluster.upstream_filters);
    let downstream = config
        .listeners
        .iter()
        .flat_map(|listener| &listener.http.filters);
    upstream.chain(downstream)
}

impl Engine {
    /// Loads and configures everything the first configuration names.
    pub(crate) fn start_guests(&mut self) -> Result<(), StartError> {
        let config = Arc::clone(&self.versions.current.config);
        self.prepare(&config)?;
        if let Some(first) = self.versions.prepared.take() {
            let numbers: Vec<usize> = (0..config.listeners.len()).collect();
            self.versions.current = first;
            self.versions.open(&numbers);
        }
        Ok(())
    }

    /// Loads and configures what a configuration names and is not there yet; nothing uses it until
    /// [`Engine::commit`]. After an error all is as before.
    pub(crate) fn prepare(&mut self, config: &Arc<Bootstrap>) -> Result<(), StartError> {
        self.abandon();
        let mut version = Version {
            config: Arc::clone(config),
            plugins: Vec::new(),
        };
        let mut fresh = Fresh::default();
        let started = plugins_of(config)
            .try_for_each(|plugin| self.place(&mut version, &mut fresh, plugin))
            .and_then(|()| self.rehearse(&fresh))
            .and_then(|()| fresh.vms.iter().try_for_each(|vm| self.load(*vm)))
            .and_then(|()| self.join(&fresh));
        self.versions.prepared = Some(Arc::new(version));
        started.inspect_err(|_| self.abandon())
    }

    /// Finds or makes the slots of a plugin and its VM.
    fn place(
        &mut self,
        version: &mut Version,
        fresh: &mut Fresh,
        plugin: &Arc<Plugin>,
    ) -> Result<(), StartError> {
        let placed = |slot: &usize| self.plugins[*slot].config == *plugin;
        if version.plugins.iter().any(placed) {
            return Ok(());
        }
        let code = self.factory.code(&plugin.vm).map_err(StartError::Load)?;
        let known = self.plugins.iter().position(|slot| {
            slot.life == Life::Live && slot.config == *plugin && self.vms[slot.vm].code == code
        });
        if let Some(known) = known {
            version.plugins.push(known);
            return Ok(());
        }
        let shared = (0..self.vms.len()).find(|index| {
            let slot = &self.vms[*index];
            let usable = fresh.vms.contains(index) || !slot.failed;
            usable && slot.config == plugin.vm && slot.code == code
        });
        let vm = shared.unwrap_or_else(|| {
            let vm = self.add_vm(VmSlot::new(plugin.vm.clone(), code));
            fresh.vms.push(vm);
            vm
        });
        let slot = self.add_plugin(PluginSlot::new(Arc::clone(plugin), vm));
        fresh.plugins.push(slot);
        if !fresh.vms.contains(&vm) {
            fresh.joining.push(slot);
        }
        version.plugins.push(slot);
        Ok(())
    }

    /// New root contexts in VMs that are at work.
    fn join(&mut self, fresh: &Fresh) -> Result<(), StartError> {
        for plugin in &fresh.joining {
            let vm = self.plugins[*plugin].vm;
            self.vms[vm].start_log = Some(Vec::new());
            let started = self.start_root(vm, *plugin);
            let log = self.vms[vm].start_log.take().unwrap_or_default();
            if !started {
                let plugin = self.plugins[*plugin].config.name.clone();
                return Err(StartError::Refused { plugin, log });
            }
        }
        Ok(())
    }

    /// What Envoy's main thread does before anything new is there for good: each module starts once by
    /// itself (the VM that later ones are made of), and each plugin is tried out.
    fn rehearse(&mut self, fresh: &Fresh) -> Result<(), StartError> {
        if !self.is_main {
            return Ok(());
        }
        for plugin in &fresh.plugins {
            let vm = self.plugins[*plugin].vm;
            let is_first = |other: &usize| self.plugins[*other].vm == vm;
            if fresh.vms.contains(&vm)
                && fresh.plugins.iter().find(|other| is_first(other)) == Some(plugin)
            {
                self.try_out(vm, None)?;
            }
            self.try_out(vm, Some(Arc::clone(&self.plugins[*plugin].config)))?;
        }
        Ok(())
    }

    /// Starts a VM like this one, with one plugin or none, and throws it away, as Envoy's canary is.
    fn try_out(&mut self, like: usize, config: Option<Arc<Plugin>>) -> Result<(), StartError> {
        let (vm_config, code) = (self.vms[like].config.clone(), self.vms[like].code);
        let vm = self.add_vm(VmSlot::new(vm_config, code));
        let canary = config.map(|config| self.add_plugin(PluginSlot::new(config, vm)));
        let tried = self.load(vm);
        if let Some(canary) = canary {
            let timer = self.plugins[canary].tick_timer.take();
            self.timers.cancel(timer);
            self.drop_callouts(canary);
            self.plugins[canary].life = Life::Gone;
        }
        self.free_vms();
        tried
    }

    /// New requests go by what was prepared; requests under way stay with what they began with.
    pub(crate) fn commit(&mut self, update: &Update) {
        let Some(prepared) = self.versions.prepared.take() else {
            return;
        };
        let old = std::mem::replace(&mut self.versions.current, prepared);
        self.versions.earlier.push(old);
        self.versions.open(&update.listeners);
        self.retire();
    }

    /// What was prepared is not wanted.
    pub(crate) fn abandon(&mut self) {
        if self.versions.prepared.take().is_some() {
            self.end_unused();
        }
    }

    pub(crate) fn close_entrance(&mut self, number: usize) {
        if let Some(entrance) = self.versions.entrances.get_mut(number)
            && entrance.as_ref().is_some_and(|entrance| entrance.closing)
        {
            *entrance = None;
        }
        self.retire();
    }

    /// Ends what no request needs any more. To be called when no guest is on the stack.
    pub(crate) fn retire(&mut self) {
        let earlier = self.versions.earlier.len();
        self.versions
            .earlier
            .retain(|version| Arc::strong_count(version) > 1);
        if self.versions.earlier.len() < earlier {
            self.end_unused();
        } else if self.plugins.iter().any(|slot| slot.life == Life::Done) {
            self.free_vms();
        }
    }

    fn end_unused(&mut self) {
        for plugin in 0..self.plugins.len() {
            if self.plugins[plugin].life == Life::Live && !self.versions.uses(plugin) {
                self.end_root(plugin);
            }
        }
        self.free_vms();
    }

    /// `on_done` of a root context, and `on_delete` unless the guest wants to say when.
    fn end_root(&mut self, plugin: usize) {
        let (vm, root) = (self.plugins[plugin].vm, self.plugins[plugin].root);
        let timer = self.plugins[plugin].tick_timer.take();
        self.timers.cancel(timer);
        self.plugins[plugin].tick_period = None;
        self.drop_callouts(plugin);
        let asked = root != 0 && !self.vms[vm].failed;
        let answer = if asked {
            self.call_guest(vm, root, &Call::Done { context: root })
        } else {
            Ok(1)
        };
        self.run_deferred_of_root(vm);
        if matches!(answer, Ok(0)) && self.plugins[plugin].life == Life::Live {
            self.plugins[plugin].life = Life::Ending;
        } else {
            self.delete_root(plugin);
        }
    }

    /// The guest of a root context that is ending has called `proxy_done`.
    pub(crate) fn root_is_done(&mut self, plugin: usize) {
        self.plugins[plugin].life = Life::Done;
    }

    fn delete_root(&mut self, plugin: usize) {
        let (vm, root) = (self.plugins[plugin].vm, self.plugins[plugin].root);
        self.plugins[plugin].life = Life::Gone;
        if root != 0 && !self.vms[vm].failed {
            // Whatever it answers, it is gone.
            let _ = self.call_guest(vm, root, &Call::Delete { context: root });
            self.vms[vm].deferred.clear();
        }
        self.vms[vm].forget(root);
    }

    /// Deletes root contexts that are done, and VMs without any.
    fn free_vms(&mut self) {
        for plugin in 0..self.plugins.len() {
            let slot = &self.plugins[plugin];
            let lost = slot.life == Life::Ending && self.vms[slot.vm].failed;
            if slot.life == Life::Done || lost {
                self.delete_root(plugin);
            }
        }
        for vm in 0..self.vms.len() {
            let at_work = |slot: &PluginSlot| slot.vm == vm && slot.life != Life::Gone;
            if !self.vms[vm].gone && !self.plugins.iter().any(at_work) {
                self.vms[vm].free();
                self.process.leave(&self.vms[vm].config.vm_id);
            }
        }
    }

    fn add_vm(&mut self, mut slot: VmSlot) -> usize {
        self.process.enter(&slot.config.vm_id);
        match self.vms.iter().position(|slot| slot.gone) {
            Some(free) => {
                slot.generation = self.vms[free].generation;
                self.vms[free] = slot;
                free
            }
            None => {
                self.vms.push(slot);
                self.vms.len() - 1
            }
        }
    }

    fn add_plugin(&mut self, slot: PluginSlot) -> usize {
        match self.plugins.iter().position(|slot| slot.life == Life::Gone) {
            Some(free) => {
                self.plugins[free] = slot;
                free
            }
            None => {
                self.plugins.push(slot);
                self.plugins.len() - 1
            }
        }
    }

    /// Index of a plugin in a version.
    pub(crate) fn plugin_index(&self, version: &Version, plugin: &Arc<Plugin>) -> Option<usize> {
        let same = |slot: &&usize| self.plugins[**slot].config == *plugin;
        version.plugins.iter().find(same).copied()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        for slot in self.vms.iter().filter(|slot| !slot.gone) {
            self.process.leave(&slot.config.vm_id);
        }
    }
}

/// What a preparation has made.
#[derive(Default)]
struct Fresh {
    vms: Vec<usize>,
    plugins: Vec<usize>,
    /// Plugins in VMs that were there before.
    joining: Vec<usize>,
}
