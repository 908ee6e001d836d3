//! One worker thread, as the driver sees it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::abi::{LoadError, VmFactory};
use crate::engine::Engine;
use crate::io::{Command, Event, Now};
use crate::process::Process;

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

    /// Takes in what happened.
    pub fn handle(&mut self, now: Now, event: Event) {
        self.0.now = now;
        self.0.handle(event);
    }

    /// Fires the timers that are due.
    pub fn advance(&mut self, now: Now) {
        self.0.now = now;
        while let Some(timer) = self.0.timers.pop(now.monotonic) {
            self.0.fire(timer);
        }
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
