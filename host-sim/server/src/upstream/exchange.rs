//! One request and its response on a connection to a worker.

use std::io::ErrorKind;
use std::rc::Rc;

use host_sim_host::io::{Event, ResetReason};
use host_sim_host::stats::Scope;
use tokio::net::TcpStream;

use super::attempt::Attempt;
use crate::counts::By;
use crate::driver::Driver;
use crate::http1::response::{ResponseDecoder, ResponsePart};

/// What is left of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It may carry another request.
    Kept,
    /// It is to be closed.
    Used {
        /// Who ended it.
        by: By,
        /// In the middle of an exchange.
        active: bool,
    },
}

/// The attempt was broken off.
const CANCELLED: Outcome = Outcome::Used {
    by: By::Local,
    active: true,
};

/// What one read brought.
enum Read {
    Bytes,
    Nothing,
    End,
}

/// Carries an attempt to its end.
pub async fn run(
    driver: &Rc<Driver>,
    socket: &TcpStream,
    attempt: &Rc<Attempt>,
    cluster: &str,
) -> Outcome {
    driver.send(Event::UpstreamConnected {
        upstream: attempt.id,
    });
    let mut response = None;
    // A worker that answers early may stop reading; its answer is still wanted.
    let mut writes = true;
    while !attempt.has_ended() {
        writes = writes && flush(driver, socket, attempt, cluster);
        let pending = writes && !attempt.out.borrow().is_empty();
        let read = tokio::select! {
            ready = socket.readable(), if !attempt.has_slow_client() => match ready {
                Ok(()) => read(driver, socket, cluster, response.get_or_insert_with(|| ResponseDecoder::new(attempt.is_to_head(), attempt.http1()))),
                Err(_) => Read::End,
            },
            _ = socket.writable(), if pending => Read::Nothing,
            () = attempt.wake.notified() => Read::Nothing,
        };
        let Some(decoder) = response.as_mut() else {
            continue;
        };
        let ended = match read {
            Read::Nothing => continue,
            Read::Bytes => false,
            Read::End => true,
        };
        if let Some(outcome) = hand_on(driver, attempt, decoder, ended, cluster) {
            return outcome;
        }
    }
    CANCELLED
}

/// Gives the worker what was read; an outcome when the attempt is over.
fn hand_on(
    driver: &Rc<Driver>,
    attempt: &Attempt,
    response: &mut ResponseDecoder,
    ended: bool,
    cluster: &str,
) -> Option<Outcome> {
    let upstream = attempt.id;
    while !attempt.has_ended() {
        let part = match response.next_part() {
            Ok(Some(part)) => part,
            Ok(None) if !ended => return None,
            Ok(None) => match response.connection_ended() {
                Some(last) => last,
                // An answer that was begun and not ended is a broken one, as in Envoy.
                None if response.has_started() => {
                    count(driver, cluster, "upstream_cx_protocol_error", 1);
                    return reset(driver, attempt, ResetReason::ProtocolError, By::Remote);
                }
                None => {
                    let reason = ResetReason::ConnectionTermination;
                    return reset(driver, attempt, reason, By::Remote);
                }
            },
            Err(_) => {
                count(driver, cluster, "upstream_cx_protocol_error", 1);
                return reset(driver, attempt, ResetReason::ProtocolError, By::Local);
            }
        };
        let complete = response.is_complete();
        if complete {
            driver.forget_attempt(upstream);
        }
        driver.send(match part {
            ResponsePart::Head {
                headers,
                end_stream,
            } => Event::ResponseHeaders {
                upstream,
                headers,
                end_stream,
            },
            ResponsePart::Trailers(trailers) => Event::ResponseTrailers { upstream, trailers },
            ResponsePart::Data { data, end_stream } => Event::ResponseData {
                upstream,
                data,
                end_stream,
            },
        });
        if complete {
            // An answer before the end of the request leaves the connection in the middle of it.
            let kept = response.may_reuse() && attempt.is_sent() && !ended;
            let by = if ended { By::Remote } else { By::Local };
            return Some(if kept {
                Outcome::Kept
            } else {
                Outcome::Used { by, active: false }
            });
        }
    }
    Some(CANCELLED)
}

fn reset(driver: &Rc<Driver>, attempt: &Attempt, reason: ResetReason, by: By) -> Option<Outcome> {
    driver.forget_attempt(attempt.id);
    driver.send(Event::UpstreamReset {
        upstream: attempt.id,
        reason,
    });
    Some(Outcome::Used { by, active: true })
}

fn count(driver: &Driver, cluster: &str, name: &'static str, by: u64) {
    let mut stats = driver.process.stats();
    stats.add(Scope::Cluster(cluster), name, by);
}

/// Writes as much as the worker takes; `false`: it takes nothing any more.
fn flush(driver: &Driver, socket: &TcpStream, attempt: &Attempt, cluster: &str) -> bool {
    let was_slow = attempt.is_slow();
    let mut out = attempt.out.borrow_mut();
    while !out.is_empty() {
        match socket.try_write(out.bytes()) {
            Ok(bytes) => {
                out.consume(bytes);
                count(driver, cluster, "upstream_cx_tx_bytes_total", bytes as u64);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(_) => return false,
        }
    }
    drop(out);
    if was_slow && !attempt.is_slow() {
        attempt.wake_client();
    }
    true
}

fn read(
    driver: &Driver,
    socket: &TcpStream,
    cluster: &str,
    response: &mut ResponseDecoder,
) -> Read {
    let mut buffer = driver.read_buffer.borrow_mut();
    match socket.try_read(&mut buffer) {
        Ok(0) => Read::End,
        Ok(bytes) => {
            response.push(buffer.get(..bytes).unwrap_or_default());
            count(driver, cluster, "upstream_cx_rx_bytes_total", bytes as u64);
            Read::Bytes
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => Read::Nothing,
        Err(_) => Read::End,
    }
}
