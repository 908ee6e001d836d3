//! One worker thread, as the driver sees it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::abi::{LoadError, VmFactory};
use crate::engine::Engine;
use crate::io::{Command, Event, Now};
use crate::process::Process;
use crate::update::Update;

/// One worker thread of the simulated Envoy.
pub struct Worker(Engine);

/// Why a worker cannot start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartError {
    /// A module cannot be used.
    Load(LoadError),
    /// A guest refused its configuration, or trapped at its start.
    Refused {
        /// Name of the plugin.
        plugin: String,
        /// What it said in its log.
        log: Vec<String>,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Load(error) => write!(f, "cannot load {error}"),
            StartError::Refused { plugin, log } => {
                write!(f, "plugin {plugin} refused its configuration")?;
                if log.is_empty() {
                    Ok(())
                } else {
                    write!(f, ": {}", log.join("; "))
                }
            }
        }
    }
}

impl std::error::Error for StartError {}

impl Worker {
    /// Loads all VMs and configures all plugins.
    ///
    /// # Errors
    /// When a module cannot be loaded, or `on_vm_start` or `on_configure` says no.
    pub fn start(
        process: Arc<Process>,
        index: usize,
        vms: Arc<dyn VmFactory>,
        now: Now,
    ) -> Result<Worker, StartError> {
        let mut engine = Engine::new(process, index, vms, now);
        engine.start_guests()?;
        Ok(Worker(engine))
    }

    /// The main thread's copy of all guests: it ticks and calls out like the others and never has a
    /// stream. Before, each module and each plugin is tried out in VMs that are thrown away; so is what
    /// an update brings. It is to start, and to prepare an update, before the worker threads, so that
    /// what traps or refuses there never comes near requests.
    ///
    /// # Errors
    /// As [`Worker::start`].
    pub fn start_main(
        process: Arc<Process>,
        index: usize,
        vms: Arc<dyn VmFactory>,
        now: Now,
    ) -> Result<Worker, StartError> {
        let mut engine = Engine::new(process, index, vms, now);
        engine.is_main = true;
        engine.start_guests()?;
        Ok(Worker(engine))
    }

    /// Takes in what happened.
    pub fn handle(&mut self, now: Now, event: Event) {
        self.0.now = now;
        self.0.handle(event);
        self.0.retire();
    }

    /// Fires the timers that are due.
    pub fn advance(&mut self, now: Now) {
        self.0.now = now;
        while let Some(timer) = self.0.timers.pop(now.monotonic) {
            self.0.fire(timer);
        }
        self.0.retire();
    }

    /// Loads and configures what a new configuration needs besides what is there. Requests do not
    /// notice; [`Worker::commit`] or [`Worker::abandon`] follows.
    ///
    /// # Errors
    /// As [`Worker::start`]; all is as before then.
    pub fn prepare(&mut self, update: &Update, now: Now) -> Result<(), StartError> {
        self.0.now = now;
        self.0.prepare(&update.config)
    }

    /// From now on new requests go by the prepared configuration. Those under way stay with the one
    /// they began with; what only that one used ends with the last of them.
    pub fn commit(&mut self, update: &Update, now: Now) {
        self.0.now = now;
        self.0.commit(update);
    }

    /// Forgets what was prepared.
    pub fn abandon(&mut self, now: Now) {
        self.0.now = now;
        self.0.abandon();
    }

    /// Nothing comes in any more at an entrance that an update has closed. Until then its kept
    /// connections are served by the last configuration that had it.
    pub fn close_entrance(&mut self, number: usize, now: Now) {
        self.0.now = now;
        self.0.close_entrance(number);
    }

    /// Configurations that requests or entrances still use, the present one included.
    #[must_use]
    pub fn versions(&self) -> usize {
        self.0.versions.count()
    }

    /// When [`Worker::advance`] is wanted, on the monotonic clock.
    #[must_use]
    pub fn next_timer(&self) -> Option<Duration> {
        self.0.timers.next()
    }

    /// What the world is to do, in order.
    #[must_use]
    pub fn take_commands(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.0.commands)
    }
}
