//! Starts the worker threads.

use std::sync::Arc;

use host_sim_host::{Process, VmFactory};
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::logs::{Logs, Threshold};
use crate::orders::Threads;
use crate::thread::{self, Parts};
use crate::wakers::Wakers;

/// What all worker threads are started with.
pub struct Start {
    /// Shared by all threads.
    pub process: Arc<Process>,
    /// Where VMs come from.
    pub modules: Arc<dyn VmFactory>,
    /// Shared by all threads.
    pub clock: Clock,
    /// Which lines of the log are shown.
    pub threshold: Threshold,
    /// Of the configuration's file.
    pub name: String,
}

impl Start {
    /// Starts so many threads; each has loaded and configured its guests when this is done.
    ///
    /// # Errors
    /// A sentence for the user.
    pub async fn threads(&self, count: usize) -> Result<Threads, String> {
        let mut threads = Vec::new();
        let mut starting = Vec::new();
        let wakers = Wakers::new(count);
        for index in 0..count {
            let parts = Parts {
                process: self.process.clone(),
                modules: self.modules.clone(),
                index,
                clock: self.clock,
                wakers: wakers.clone(),
                logs: Logs::new(self.threshold.clone()),
            };
            let (sender, receiver) = unbounded_channel();
            let (say, started) = oneshot::channel();
            let body = move || {
                thread::run(parts, receiver, |result| {
                    // The main thread only stops listening when the process ends.
                    let _ = say.send(result);
                });
            };
            let spawned = std::thread::Builder::new()
                .name(format!("worker-{index}"))
                .spawn(body);
            spawned.map_err(|error| format!("cannot start a worker thread: {error}"))?;
            threads.push(sender);
            starting.push(started);
        }
        for started in starting {
            let result = started
                .await
                .map_err(|_| "a worker thread ended at its start".to_owned())?;
            result.map_err(|error| format!("{}: {error}", self.name))?;
        }
        Ok(Threads::new(threads))
    }
}
