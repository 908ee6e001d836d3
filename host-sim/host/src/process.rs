//! What all worker threads of one simulated Envoy share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::breakers::Breakers;
use crate::config::Bootstrap;
use crate::metrics::Metrics;
use crate::shared_data::SharedData;

/// Shared by all worker threads: configuration, environment, shared data by `vm_id`, metrics,
/// circuit breakers.
#[derive(Debug)]
pub struct Process {
    config: Bootstrap,
    environment: BTreeMap<String, String>,
    seed: u64,
    shared_data: Mutex<SharedData>,
    metrics: Mutex<Metrics>,
    breakers: Mutex<Breakers>,
}

impl Process {
    /// A process that has not started any worker. All random numbers come from `seed`.
    #[must_use]
    pub fn new(
        config: Bootstrap,
        environment: BTreeMap<String, String>,
        seed: u64,
    ) -> Arc<Process> {
        Arc::new(Process {
            config,
            environment,
            seed,
            shared_data: Mutex::default(),
            metrics: Mutex::default(),
            breakers: Mutex::default(),
        })
    }

    /// What it was started with.
    #[must_use]
    pub fn config(&self) -> &Bootstrap {
        &self.config
    }

    /// The guests' metrics in Prometheus's text format.
    #[must_use]
    pub fn prometheus(&self) -> String {
        self.metrics().prometheus(&self.config.stats_tags)
    }

    pub(crate) fn environment(&self) -> &BTreeMap<String, String> {
        &self.environment
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) fn shared_data(&self) -> MutexGuard<'_, SharedData> {
        self.shared_data
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn metrics(&self) -> MutexGuard<'_, Metrics> {
        self.metrics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn breakers(&self) -> MutexGuard<'_, Breakers> {
        self.breakers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
