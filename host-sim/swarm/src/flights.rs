//! Attempts of requests while they are under way: what no response and no log tells, as the gateway's threads see it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use host_sim_host::io::{Command, Event, StreamId, UpstreamId};
use host_sim_scenario::Onlooker;

/// One attempt of a request; callouts are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flight {
    /// Thread and number of its request.
    pub request: (usize, StreamId),
    /// Where it went.
    pub address: SocketAddr,
    /// When the last came of its request that had come before it: of most, the end of the body.
    pub admitted: Duration,
    /// When it began.
    pub began: Duration,
    /// When it ended: all was answered, it broke, or it was given up.
    pub ended: Option<Duration>,
    /// Whether the gateway ended it.
    pub given_up: bool,
    /// Whether it is the first of its request.
    pub is_first: bool,
    /// Attempts at the same address that were under way when it began, on any thread.
    pub beside: usize,
}

/// Writes attempts down: one of [`host_sim_scenario::Setup::onlookers`].
#[derive(Debug, Default)]
pub struct Flights(Mutex<Book>);

#[derive(Debug, Default)]
struct Book {
    flights: Vec<Flight>,
    /// Place of those under way, by thread and number.
    under_way: BTreeMap<(usize, UpstreamId), usize>,
    /// Of each request: when its head or the last of its body came, and whether it was tried at a worker.
    requests: BTreeMap<(usize, StreamId), (Duration, bool)>,
}

impl Flights {
    /// All so far, in the order in which they began.
    #[must_use]
    pub fn list(&self) -> Vec<Flight> {
        self.book().flights.clone()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn begin(
        &mut self,
        at: Duration,
        request: (usize, StreamId),
        upstream: UpstreamId,
        address: SocketAddr,
    ) {
        let (admitted, tried) = self.requests.entry(request).or_insert((at, false));
        let is_first = !std::mem::replace(tried, true);
        let admitted = *admitted;
        let at_same = |place: &&usize| {
            let flight = self.flights.get(**place);
            flight.is_some_and(|flight| flight.address == address)
        };
        let beside = self.under_way.values().filter(at_same).count();
        self.under_way
            .insert((request.0, upstream), self.flights.len());
        self.flights.push(Flight {
            request,
            address,
            admitted,
            began: at,
            ended: None,
            given_up: false,
            is_first,
            beside,
        });
    }

    fn end(&mut self, at: Duration, thread: usize, upstream: UpstreamId, given_up: bool) {
        let place = self.under_way.remove(&(thread, upstream));
        if let Some(flight) = place.and_then(|place| self.flights.get_mut(place)) {
            (flight.ended, flight.given_up) = (Some(at), given_up);
        }
    }
}

impl Onlooker for Flights {
    fn event(&self, at: Duration, thread: usize, event: &Event) {
        let mut book = self.book();
        match event {
            Event::RequestHeaders { stream, .. } | Event::RequestData { stream, .. } => {
                let (admitted, _) = book.requests.entry((thread, *stream)).or_default();
                *admitted = at;
            }
            Event::ResponseHeaders {
                upstream,
                end_stream: true,
                ..
            }
            | Event::ResponseData {
                upstream,
                end_stream: true,
                ..
            }
            | Event::ResponseTrailers { upstream, .. }
            | Event::UpstreamReset { upstream, .. } => book.end(at, thread, *upstream, false),
            _ => {}
        }
    }

    fn command(&self, at: Duration, thread: usize, command: &Command) {
        match command {
            Command::OpenUpstream {
                upstream,
                stream: Some(stream),
                address,
                ..
            } => self
                .book()
                .begin(at, (thread, *stream), *upstream, *address),
            Command::CancelUpstream { upstream } => self.book().end(at, thread, *upstream, true),
            _ => {}
        }
    }
}
