//! One worker thread.

use std::net::TcpStream as StdStream;
use std::rc::Rc;
use std::sync::Arc;

use host_sim_host::{Process, VmFactory, Worker};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::LocalSet;

use crate::client::connection::{self, Entrance};
use crate::clock::Clock;
use crate::driver::Driver;
use crate::logs::Logs;
use crate::orders::Order;
use crate::wakers::Wakers;

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
    /// It has the main thread's guests, and no connections.
    pub main: bool,
    /// Shared by all threads.
    pub clock: Clock,
    /// Shared by all threads.
    pub wakers: Wakers,
    /// Where its lines go.
    pub logs: Logs,
}

/// Starts the worker, says how that went, and serves what comes until the process ends.
pub fn run(
    parts: Parts,
    orders: UnboundedReceiver<Order>,
    started: impl FnOnce(Result<(), String>),
) {
    let Parts {
        process,
        modules,
        index,
        main,
        clock,
        wakers,
        logs,
    } = parts;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return started(Err(format!("cannot start a worker thread: {error}"))),
    };
    let start = if main {
        Worker::start_main
    } else {
        Worker::start
    };
    let worker = match start(process.clone(), index, modules, clock.now()) {
        Ok(worker) => worker,
        Err(error) => return started(Err(error.to_string())),
    };
    started(Ok(()));
    let driver = Driver::new(Box::new(worker), process, clock, logs, wakers);
    LocalSet::new().block_on(&runtime, serve(driver, index, orders));
}

async fn serve(driver: Rc<Driver>, index: usize, mut orders: UnboundedReceiver<Order>) {
    tokio::task::spawn_local(driver.clone().run_timers());
    tokio::task::spawn_local(driver.clone().run_wakes(index));
    while let Some(order) = orders.recv().await {
        match order {
            Order::Serve(accepted) => serve_connection(&driver, accepted),
            Order::Prepare(update, done) => {
                // Whoever asked waits for it, unless the process ends.
                let _ = done.send(driver.prepare(&update));
            }
            Order::Commit(update, done) => {
                driver.commit(&update);
                let _ = done.send(());
            }
            Order::Abandon => driver.abandon(),
            Order::CloseEntrance(number) => driver.close_entrance(number),
        }
    }
}

fn serve_connection(driver: &Rc<Driver>, accepted: Accepted) {
    let Accepted {
        socket,
        entrance,
        permit,
    } = accepted;
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
