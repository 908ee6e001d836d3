//! Starts the worker threads.

use std::sync::Arc;

use host_sim_host::{Process, VmFactory};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::logs::{Logs, Threshold};
use crate::orders::{Order, Threads};
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

/// A thread on its way: how to speak to it, and what it says when it has started.
type Starting = (
    UnboundedSender<Order>,
    oneshot::Receiver<Result<(), String>>,
);

impl Start {
    /// Starts so many worker threads, and before them one for the guests of Envoy's main thread; each has
    /// loaded and configured its guests when this is done. Guests have a thread of their own there, so
    /// that a slow one does not hold up signals and the admin address, as it would in Envoy.
    ///
    /// # Errors
    /// A sentence for the user.
    pub async fn threads(&self, count: usize) -> Result<Threads, String> {
        let wakers = Wakers::new(count + 1);
        let (main, started) = self.thread(count, true, &wakers)?;
        self.wait(started).await?;
        let mut threads = Vec::new();
        let mut starting = Vec::new();
        for index in 0..count {
            let (sender, started) = self.thread(index, false, &wakers)?;
            threads.push(sender);
            starting.push(started);
        }
        for started in starting {
            self.wait(started).await?;
        }
        threads.push(main);
        Ok(Threads::new(threads))
    }

    fn thread(&self, index: usize, main: bool, wakers: &Wakers) -> Result<Starting, String> {
        let parts = Parts {
            process: self.process.clone(),
            modules: self.modules.clone(),
            index,
            main,
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
        let name = if main {
            "main-guests".to_owned()
        } else {
            format!("worker-{index}")
        };
        let spawned = std::thread::Builder::new().name(name).spawn(body);
        spawned.map_err(|error| format!("cannot start a worker thread: {error}"))?;
        Ok((sender, started))
    }

    async fn wait(&self, started: oneshot::Receiver<Result<(), String>>) -> Result<(), String> {
        let result = started
            .await
            .map_err(|_| "a worker thread ended at its start".to_owned())?;
        result.map_err(|error| format!("{}: {error}", self.name))
    }
}
