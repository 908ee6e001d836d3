//! What happens to clients, workers and attempts.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use host_sim_host::io::{Event, ResetReason};

use super::{Item, Key, World};
use crate::attempt::Played;
use crate::client::{End, Request, RequestId};
use crate::site::Change;
use crate::visit::Visit;

impl World {
    /// What becomes of a thing that concerns one worker thread: an event for it, or nothing yet.
    pub(super) fn event_of(&mut self, item: Item) -> Option<Event> {
        match item {
            Item::Send(id) => self.send(id),
            Item::Piece(id, index) => self.piece(id, index),
            Item::Leave(id) => self.leave(id),
            Item::Connect(key, result) => self.connect(key, result),
            Item::Play(key) => self.play(key),
            Item::Resolved(_, lookup, addresses) => Some(Event::Resolved { lookup, addresses }),
            Item::Wake(_) => Some(Event::Woken),
            Item::Change(..) | Item::SetWall(_) | Item::Update(_) => None,
        }
    }

    fn send(&mut self, id: RequestId) -> Option<Event> {
        let client = &mut self.clients[id.0];
        // Who left at this very moment may have left before.
        if client.response.end != End::Pending {
            return None;
        }
        client.sent = Some(self.now);
        let stream = client.stream;
        let Request {
            has_body,
            listener,
            pause,
            ..
        } = client.request;
        let event = Event::RequestHeaders {
            stream,
            listener,
            peer: peer(id),
            connection: None,
            headers: client.request.head(),
            end_stream: !has_body,
        };
        if has_body {
            self.plan(self.now + pause, Item::Piece(id, 0));
        }
        Some(event)
    }

    fn piece(&mut self, id: RequestId, index: usize) -> Option<Event> {
        let client = &self.clients[id.0];
        let stream = client.stream;
        // Who has the whole response sends no more.
        let data = client
            .request
            .pieces
            .get(index)
            .filter(|_| client.response.end == End::Pending)?;
        let last = index + 1 == client.request.pieces.len();
        let event = Event::RequestData {
            stream,
            data: data.clone(),
            end_stream: last && client.request.complete,
        };
        if !last {
            self.plan(self.now + client.request.pause, Item::Piece(id, index + 1));
        }
        Some(event)
    }

    fn leave(&mut self, id: RequestId) -> Option<Event> {
        let now = self.now;
        let client = &mut self.clients[id.0];
        let stream = client.stream;
        if client.response.end != End::Pending {
            return None;
        }
        client.response.end = End::Left(now);
        // Nobody but the client knows of a request that was not sent yet.
        client.sent.map(|_| Event::RequestReset { stream })
    }

    fn connect(&mut self, key: Key, result: Result<(), ResetReason>) -> Option<Event> {
        let (_, upstream) = key;
        let attempt = self.attempts.get_mut(&key)?;
        Some(match result {
            // The request follows: a head is sent once its attempt is connected.
            Ok(()) => {
                attempt.connected = true;
                Event::UpstreamConnected { upstream }
            }
            Err(reason) => {
                self.attempts.remove(&key);
                Event::UpstreamReset { upstream, reason }
            }
        })
    }

    /// Gives the worker a request that is complete.
    pub(super) fn arrive(&mut self, key: Key) {
        let Some(attempt) = self.attempts.get_mut(&key) else {
            return;
        };
        let Some((request, surplus)) = attempt.take_request() else {
            return;
        };
        let site = &mut self.sites[attempt.site];
        self.visits.add(Visit {
            at: self.now,
            worker: site.name.clone(),
            client: attempt.client,
            body_bytes: request.body.len(),
            request: request.clone(),
        });
        let worker = &mut site.worker;
        attempt.start(worker.answer(attempt.connection, request));
        if let Some(surplus) = surplus {
            worker.record(surplus);
        }
        self.plan(self.now, Item::Play(key));
    }

    fn play(&mut self, key: Key) -> Option<Event> {
        let attempt = self.attempts.get_mut(&key)?;
        let releases = self.sites[attempt.site].worker.releases();
        match attempt.play(key.1, releases) {
            Played::Silence => None,
            Played::Wait(time) => {
                self.plan(self.now + time, Item::Play(key));
                None
            }
            Played::Event(event) => {
                self.plan(self.now, Item::Play(key));
                Some(event)
            }
            Played::Last(event) => {
                self.end_attempt(key);
                Some(event)
            }
        }
    }

    pub(super) fn apply(&mut self, site: usize, change: Change) {
        let released = change == Change::Release;
        let breaks = self.sites[site].apply(change);
        let of_site = self
            .attempts
            .iter()
            .filter(|(_, attempt)| attempt.site == site && attempt.connected);
        let keys: Vec<Key> = of_site.map(|(key, _)| *key).collect();
        for key in keys {
            if released {
                self.plan(self.now, Item::Play(key));
            } else if breaks
                && let Some(event) = self.attempts.get(&key).map(|attempt| attempt.broken(key.1))
            {
                self.end_attempt(key);
                self.tell(key.0, event);
            }
        }
    }

    pub(super) fn end_attempt(&mut self, key: Key) {
        let Some(attempt) = self.attempts.remove(&key) else {
            return;
        };
        let worker = &mut self.sites[attempt.site].worker;
        if let Some(cut) = attempt.cut() {
            worker.record(cut);
        }
        if attempt.answered {
            worker.finished(attempt.method());
        }
    }

    pub(super) fn plan(&mut self, at: Duration, item: Item) {
        let draw = self.random.next();
        self.agenda.add(at, draw, item);
    }
}

/// Clients come from addresses of their own, as far as there are ports.
fn peer(id: RequestId) -> SocketAddr {
    let port = 40_000 + u16::try_from(id.0 % 20_000).unwrap_or_default();
    SocketAddr::from((Ipv4Addr::new(192, 0, 2, 1), port))
}
