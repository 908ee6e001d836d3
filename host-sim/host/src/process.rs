//! What all worker threads of one simulated Envoy share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::breakers::Breakers;
use crate::config::Bootstrap;
use crate::metrics::Metrics;
use crate::shared_data::SharedData;
use crate::shared_queues::SharedQueues;
use crate::stats::Stats;
use crate::update::{Entrances, Update};

/// Info.
const DEFAULT_LOG_LEVEL: u32 = 2;

/// Shared by all worker threads: configuration, environment, shared data and queues by `vm_id`, metrics,
/// circuit breakers.
#[derive(Debug)]
pub struct Process {
    config: Mutex<Arc<Bootstrap>>,
    entrances: Mutex<Entrances>,
    draining: AtomicBool,
    log_level: AtomicU32,
    environment: BTreeMap<String, String>,
    seed: u64,
    shared_data: Mutex<SharedData>,
    shared_queues: Mutex<SharedQueues>,
    metrics: Mutex<Metrics>,
    stats: Mutex<Stats>,
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
        let mut stats = Stats::default();
        stats.declare(&config);
        Arc::new(Process {
            stats: Mutex::new(stats),
            entrances: Mutex::new(Entrances::new(&config)),
            config: Mutex::new(Arc::new(config)),
            draining: AtomicBool::new(false),
            log_level: AtomicU32::new(DEFAULT_LOG_LEVEL),
            environment,
            seed,
            shared_data: Mutex::default(),
            shared_queues: Mutex::default(),
            metrics: Mutex::default(),
            breakers: Mutex::default(),
        })
    }

    /// What new requests go by: what it was started with, or the last update.
    #[must_use]
    pub fn config(&self) -> Arc<Bootstrap> {
        Arc::clone(&lock(&self.config))
    }

    /// The present configuration as an update that opens all of its entrances.
    #[must_use]
    pub fn present(&self) -> Update {
        lock(&self.entrances).present(self.config())
    }

    /// Numbers the entrances of another configuration. Every worker is to prepare it, and then to
    /// commit or abandon it; see [`Process::commit`].
    #[must_use]
    pub fn plan(&self, config: Bootstrap) -> Update {
        lock(&self.entrances).plan(Arc::new(config))
    }

    /// The update is the configuration from now on; the workers are to be told first.
    pub fn commit(&self, update: &Update) {
        lock(&self.entrances).commit(update);
        self.stats().declare(&update.config);
        *lock(&self.config) = Arc::clone(&update.config);
    }

    /// Whether the present configuration listens at this entrance.
    #[must_use]
    pub fn is_open(&self, entrance: usize) -> bool {
        lock(&self.entrances).is_open(entrance)
    }

    /// What `proxy_get_log_level` tells: 0 (trace) to 5 (critical), 6 for none. Envoy's default, info,
    /// if not set. Which lines are shown is the driver's business.
    pub fn set_log_level(&self, level: u32) {
        self.log_level.store(level, Ordering::Relaxed);
    }

    pub(crate) fn log_level(&self) -> u32 {
        self.log_level.load(Ordering::Relaxed)
    }

    /// While it drains every response asks its client to end the connection.
    pub fn set_draining(&self, draining: bool) {
        self.draining.store(draining, Ordering::Relaxed);
    }

    /// See [`Process::set_draining`].
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Envoy's own statistics.
    pub fn stats(&self) -> MutexGuard<'_, Stats> {
        lock(&self.stats)
    }

    /// The guests' counters and gauges by name.
    #[must_use]
    pub fn guest_metrics(&self) -> Vec<(String, u64)> {
        self.metrics().numbers()
    }

    /// The guests' metrics in Prometheus's text format.
    #[must_use]
    pub fn prometheus(&self) -> String {
        self.metrics().prometheus(&self.config().stats_tags)
    }

    pub(crate) fn environment(&self) -> &BTreeMap<String, String> {
        &self.environment
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) fn shared_data(&self) -> MutexGuard<'_, SharedData> {
        lock(&self.shared_data)
    }

    pub(crate) fn shared_queues(&self) -> MutexGuard<'_, SharedQueues> {
        lock(&self.shared_queues)
    }

    pub(crate) fn metrics(&self) -> MutexGuard<'_, Metrics> {
        lock(&self.metrics)
    }

    pub(crate) fn breakers(&self) -> MutexGuard<'_, Breakers> {
        lock(&self.breakers)
    }

    pub(crate) fn enter(&self, vm_id: &str) {
        self.shared_data().enter(vm_id);
    }

    pub(crate) fn leave(&self, vm_id: &str) {
        if self.shared_data().leave(vm_id) {
            self.shared_queues().forget(vm_id);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
