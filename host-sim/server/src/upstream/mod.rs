//! Connections to workers.

pub mod attempt;
mod exchange;
pub mod http2;
pub mod pool;

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use host_sim_host::config::Http2;
use host_sim_host::io::{Event, ResetReason};
use tokio::net::TcpStream;

use self::attempt::Attempt;
use self::exchange::Outcome;
use self::pool::Target;
use crate::counts::{self, By};
use crate::driver::Driver;

/// A waiting connection is closed after this, Envoy's default `idle_timeout`.
const IDLE_TIMEOUT: Duration = Duration::from_secs(3600);

/// Finds or opens a connection for an attempt.
pub fn open(
    driver: &Rc<Driver>,
    attempt: Rc<Attempt>,
    target: Target,
    connect_timeout: Duration,
    http2: Option<Http2>,
) {
    if let Some(options) = http2 {
        let run = http2::run(driver.clone(), attempt, target, connect_timeout, options);
        tokio::task::spawn_local(run);
    } else if !driver.pool.give(&target, &attempt) {
        counts::opened(&driver.process, &target.cluster);
        tokio::task::spawn_local(run(driver.clone(), attempt, target, connect_timeout));
    }
}

/// A connection from its first attempt to its end.
async fn run(driver: Rc<Driver>, first: Rc<Attempt>, target: Target, connect_timeout: Duration) {
    let Some(socket) = connect(&driver, &first, &target, connect_timeout).await else {
        return;
    };
    let cluster = &target.cluster;
    let mut next = (!first.has_ended()).then_some(first);
    let (by, active) = loop {
        let outcome = match next {
            Some(attempt) => {
                let outcome = exchange::run(&driver, &socket, &attempt, cluster).await;
                driver.forget_attempt(attempt.id);
                attempt.end();
                outcome
            }
            // Whoever wanted it first has gone: it waits for another.
            None => Outcome::Kept,
        };
        next = match outcome {
            Outcome::Kept => match wait(&driver, &socket, &target).await {
                Ok(attempt) => Some(attempt),
                Err(by) => break (by, false),
            },
            Outcome::Used { by, active } => break (by, active),
        }
    };
    counts::destroyed(&mut driver.process.stats(), cluster, by, active);
}

/// Makes a connection. An attempt that ends meanwhile does not end it, as in Envoy: the next one
/// finds it.
async fn connect(
    driver: &Rc<Driver>,
    attempt: &Attempt,
    target: &Target,
    limit: Duration,
) -> Option<TcpStream> {
    let (process, cluster) = (&driver.process, &target.cluster);
    let connecting = connect_within(target.address, limit);
    tokio::pin!(connecting);
    let connected = tokio::select! {
        connected = &mut connecting => connected,
        () = attempt.ended() => {
            counts::cancelled(process, cluster);
            connecting.await
        }
    };
    let waited = !attempt.has_ended();
    let reason = match connected {
        Ok(socket) => {
            if waited {
                counts::waited(&mut process.stats(), cluster);
            }
            return Some(socket);
        }
        Err(reason) => reason,
    };
    let timed_out = reason == ResetReason::ConnectTimeout;
    counts::not_connected(process, cluster, timed_out, waited);
    if waited {
        driver.forget_attempt(attempt.id);
        attempt.end();
        driver.send(Event::UpstreamReset {
            upstream: attempt.id,
            reason,
        });
    }
    None
}

/// A new connection, or why there is none.
async fn connect_within(address: SocketAddr, limit: Duration) -> Result<TcpStream, ResetReason> {
    match tokio::time::timeout(limit, TcpStream::connect(address)).await {
        Ok(Ok(socket)) => {
            // The pieces of a request are written when they come.
            let _ = socket.set_nodelay(true);
            Ok(socket)
        }
        Ok(Err(error)) => Err(ResetReason::ConnectFailure(format!(
            "delayed connect error: {}",
            system_text(&error)
        ))),
        Err(_) => Err(ResetReason::ConnectTimeout),
    }
}

/// The system's own words, as Envoy has them: `Connection refused`.
fn system_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// Waits for the next attempt, or until the connection is of no use any more; then who ended it.
async fn wait(driver: &Rc<Driver>, socket: &TcpStream, target: &Target) -> Result<Rc<Attempt>, By> {
    let idle = driver.pool.wait(target).ok_or(By::Local)?;
    loop {
        tokio::select! {
            // First: an attempt that was given may not be lost, even if the worker closed meanwhile.
            biased;
            () = idle.wake.notified() => return idle.take().ok_or(By::Local),
            ready = socket.readable() => {
                // A worker that speaks or leaves unasked ends the connection.
                let quiet = ready.is_ok()
                    && socket.try_read(&mut [0]).is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
                if quiet {
                    continue;
                }
            }
            () = tokio::time::sleep(IDLE_TIMEOUT) => {}
        }
        driver.pool.leave(target, &idle);
        return idle.take().ok_or(By::Remote);
    }
}
