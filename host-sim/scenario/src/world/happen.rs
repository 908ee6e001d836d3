//! How one thing after the other happens.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use host_sim_host::io::{Event, Now, ResetReason};

use super::{HAPPENINGS_LIMIT, Item, Key, World};
use crate::attempt::Played;
use crate::client::{End, Request, RequestId};
use crate::site::Change;
use crate::visit::Visit;

impl World {
    /// One thing happens, if any is due by `deadline`.
    pub(super) fn step(&mut self, deadline: Duration) -> bool {
        self.happenings += 1;
        assert!(
            self.happenings < HAPPENINGS_LIMIT,
            "it never ends:\n{}",
            self.trace()
        );
        let timers = self.threads.iter().enumerate();
        let timers =
            timers.filter_map(|(index, thread)| thread.next_timer().map(|due| (due, index)));
        let timers: Vec<(Duration, usize)> = timers.collect();
        let first_timer = timers.iter().map(|(due, _)| *due).min();
        let first_item = self.agenda.next();
        let Some(due) = first_timer
            .into_iter()
            .chain(first_item.map(|(due, _)| due))
            .min()
        else {
            return false;
        };
        if due > deadline {
            return false;
        }
        self.now = self.now.max(due);
        let due_threads: Vec<usize> = timers
            .iter()
            .filter(|(timer, _)| *timer == due)
            .map(|(_, index)| *index)
            .collect();
        let item_is_due = first_item.is_some_and(|(item, _)| item == due);
        let choices = due_threads.len() as u64 + u64::from(item_is_due);
        let choice = self.random.next() % choices.max(1);
        match usize::try_from(choice)
            .ok()
            .and_then(|choice| due_threads.get(choice))
        {
            Some(thread) => self.advance(*thread),
            None => self.happen(),
        }
        true
    }

    fn happen(&mut self) {
        match self.agenda.take() {
            None => {}
            Some(Item::Send(id)) => self.send(id),
            Some(Item::Piece(id, index)) => self.piece(id, index),
            Some(Item::Leave(id)) => self.leave(id),
            Some(Item::Connect(key, result)) => self.connect(key, result),
            Some(Item::Play(key)) => self.play(key),
            Some(Item::Change(site, change)) => self.apply(site, change),
            Some(Item::SetWall(since_1970)) => self.set_wall(since_1970),
        }
    }

    fn send(&mut self, id: RequestId) {
        let client = &mut self.clients[id.0];
        client.sent = Some(self.now);
        let (thread, stream) = (client.thread, client.stream);
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
            headers: client.request.head(),
            end_stream: !has_body,
        };
        if has_body {
            self.plan(self.now + pause, Item::Piece(id, 0));
        }
        self.tell(thread, event);
    }

    fn piece(&mut self, id: RequestId, index: usize) {
        let client = &self.clients[id.0];
        let (thread, stream) = (client.thread, client.stream);
        // Who has the whole response sends no more.
        let Some(data) = client
            .request
            .pieces
            .get(index)
            .filter(|_| client.response.end == End::Pending)
        else {
            return;
        };
        let last = index + 1 == client.request.pieces.len();
        let event = Event::RequestData {
            stream,
            data: data.clone(),
            end_stream: last && client.request.complete,
        };
        if !last {
            self.plan(self.now + client.request.pause, Item::Piece(id, index + 1));
        }
        self.tell(thread, event);
    }

    fn leave(&mut self, id: RequestId) {
        let now = self.now;
        let client = &mut self.clients[id.0];
        if client.response.end == End::Pending {
            client.response.end = End::Left(now);
            let (thread, stream) = (client.thread, client.stream);
            self.tell(thread, Event::RequestReset { stream });
        }
    }

    fn connect(&mut self, key: Key, result: Result<(), ResetReason>) {
        let (thread, upstream) = key;
        let Some(attempt) = self.attempts.get_mut(&key) else {
            return;
        };
        match result {
            Ok(()) => {
                attempt.connected = true;
                self.tell(thread, Event::UpstreamConnected { upstream });
                self.arrive(key);
            }
            Err(reason) => {
                self.attempts.remove(&key);
                self.tell(thread, Event::UpstreamReset { upstream, reason });
            }
        }
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

    fn play(&mut self, key: Key) {
        let (thread, upstream) = key;
        let Some(attempt) = self.attempts.get_mut(&key) else {
            return;
        };
        let releases = self.sites[attempt.site].worker.releases();
        match attempt.play(upstream, releases) {
            Played::Silence => {}
            Played::Wait(time) => self.plan(self.now + time, Item::Play(key)),
            Played::Event(event) => {
                self.plan(self.now, Item::Play(key));
                self.tell(thread, event);
            }
            Played::Last(event) => {
                self.end_attempt(key);
                self.tell(thread, event);
            }
        }
    }

    fn apply(&mut self, site: usize, change: Change) {
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

    fn tell(&mut self, thread: usize, event: Event) {
        self.trace.add(self.now, thread, &event);
        let now = self.time();
        self.threads[thread].handle(now, event);
        self.carry_out(thread);
    }

    fn advance(&mut self, thread: usize) {
        self.trace.add(self.now, thread, &"timers");
        let now = self.time();
        self.threads[thread].advance(now);
        self.carry_out(thread);
    }

    fn time(&self) -> Now {
        Now {
            monotonic: self.now,
            wall: self.wall + self.now,
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
