//! Requests over HTTP/2 to workers, without TLS and with prior knowledge: many at a time on a connection.

mod connection;
mod exchange;
mod head;

use std::rc::Rc;
use std::time::Duration;

use host_sim_host::config::Http2;
use host_sim_host::io::{Event, ResetReason};

pub use connection::Connections;

use super::attempt::Attempt;
use super::pool::Target;
use crate::driver::Driver;

/// Carries an attempt from its beginning to its end.
pub async fn run(
    driver: Rc<Driver>,
    attempt: Rc<Attempt>,
    target: Target,
    connect_timeout: Duration,
    options: Http2,
) {
    let place = tokio::select! {
        place = connection::place(&driver, &target, connect_timeout, options) => place,
        () = attempt.ended() => return,
    };
    match place {
        Ok(place) => exchange::run(&driver, &place, &attempt).await,
        Err(reason) => reset(&driver, &attempt, reason),
    }
    driver.forget_attempt(attempt.id);
    attempt.end();
}

/// The attempt broke.
fn reset(driver: &Rc<Driver>, attempt: &Attempt, reason: ResetReason) {
    driver.forget_attempt(attempt.id);
    attempt.end();
    driver.send(Event::UpstreamReset {
        upstream: attempt.id,
        reason,
    });
}

/// An error in Envoy's words.
fn reason_of(error: &h2::Error) -> ResetReason {
    if error.is_reset() && error.is_remote() {
        return match error.reason() {
            Some(h2::Reason::REFUSED_STREAM) => ResetReason::RemoteRefused,
            _ => ResetReason::RemoteReset,
        };
    }
    if error.is_io() || error.is_remote() {
        return ResetReason::ConnectionTermination;
    }
    ResetReason::ProtocolError
}
