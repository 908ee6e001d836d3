//! One worker thread.

use std::net::TcpStream as StdStream;
use std::sync::Arc;

use host_sim_host::{Process, VmFactory, Worker};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::LocalSet;

use crate::client::connection::{self, Entrance};
use crate::clock::Clock;
use crate::driver::Driver;
use crate::logs::{Level, Logs};

/// A connection on its way to a thread. The permit bounds how many there are in the process.
pub struct Accepted {
    /// Not blocking.
    pub socket: StdStream,
    /// Where it came in.
    pub entrance: Entrance,
    /// Given back when the connection ends.
    pub permit: OwnedSemaphorePermit,
}

/// What a worker thread is made of.
pub struct Parts {
    /// Shared by all threads.
    pub process: Arc<Process>,
    /// Where its VMs come from.
    pub modules: Arc<dyn VmFactory>,
    /// From 0.
    pub index: usize,
    /// Shared by all threads.
    pub clock: Clock,
    /// Lines below are dropped.
    pub log_level: Level,
}

/// Starts the worker, says how that went, and serves what comes until the process ends.
pub fn run(
    parts: Parts,
    accepted: UnboundedReceiver<Accepted>,
    started: impl FnOnce(Result<(), String>),
) {
    let Parts {
        process,
        modules,
        index,
        clock,
        log_level,
    } = parts;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return started(Err(format!("cannot start a worker thread: {error}"))),
    };
    let worker = match Worker::start(process, index, modules, clock.now()) {
        Ok(worker) => worker,
        Err(error) => return started(Err(error.to_string())),
    };
    started(Ok(()));
    let driver = Driver::new(Box::new(worker), clock, Logs::new(log_level));
    LocalSet::new().block_on(&runtime, serve(driver, accepted));
}

async fn serve(driver: std::rc::Rc<Driver>, mut accepted: UnboundedReceiver<Accepted>) {
    tokio::task::spawn_local(driver.clone().run_timers());
    while let Some(Accepted {
        socket,
        entrance,
        permit,
    }) = accepted.recv().await
    {
        match TcpStream::from_std(socket) {
            Ok(socket) => {
                let connection = connection::serve(driver.clone(), socket, entrance);
                tokio::task::spawn_local(async move {
                    connection.await;
                    drop(permit);
                });
            }
            Err(error) => driver.log(
                "error",
                &format!("cannot serve the connection of {}: {error}", entrance.peer),
            ),
        }
    }
}
