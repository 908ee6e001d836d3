//! This VM's seat: what it has in flight per worker, for `select` on every thread to see.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use dragoman_contract::load::{MAX_SEATS, Seat, worker_hash};
use dragoman_sdk::HostResult;
use dragoman_sdk::host::{Cas, Clock, Shared};

/// Requests in flight of this VM, and the seat that says so.
#[derive(Debug, Default)]
pub(crate) struct Load(RefCell<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Worker hash → requests; as many entries as workers have requests now.
    in_flight: BTreeMap<u64, u32>,
    /// Number of the seat; taken with the first attempt.
    seat: Option<u16>,
    owner: u64,
}

impl Load {
    /// An attempt at a worker begins.
    ///
    /// # Errors
    /// When shared data fails; the attempt counts all the same.
    pub(crate) fn begin(&self, cx: &mut (impl Shared + Clock), worker: &str) -> HostResult<()> {
        let mut inner = self.0.borrow_mut();
        let requests = inner.in_flight.entry(worker_hash(worker)).or_default();
        *requests = requests.saturating_add(1);
        inner.tell(cx)
    }

    /// An attempt that began is over.
    ///
    /// # Errors
    /// When shared data fails; the next attempt or beat tells it.
    pub(crate) fn end(&self, cx: &mut (impl Shared + Clock), worker: &str) -> HostResult<()> {
        let mut inner = self.0.borrow_mut();
        let worker = worker_hash(worker);
        match inner.in_flight.get_mut(&worker) {
            Some(requests) if *requests > 1 => *requests -= 1,
            _ => {
                inner.in_flight.remove(&worker);
            }
        }
        inner.tell(cx)
    }

    /// The number of this VM's seat, once it has one.
    pub(crate) fn seat(&self) -> Option<u16> {
        self.0.borrow().seat
    }

    /// Shows that this VM lives, if it has a seat. A seat that somebody else took meanwhile, because
    /// this thread was silent for too long, is left to them.
    ///
    /// # Errors
    /// When shared data fails.
    pub(crate) fn beat(&self, cx: &mut (impl Shared + Clock)) -> HostResult<()> {
        let mut inner = self.0.borrow_mut();
        let Some(seat) = inner.seat else {
            return Ok(());
        };
        let current = cx.shared(&Seat::key(seat))?;
        let owner = current
            .and_then(|(bytes, _)| Seat::decode(&bytes))
            .map(|seat| seat.owner);
        if owner != Some(inner.owner) {
            inner.seat = None;
        }
        inner.tell(cx)
    }
}

impl Inner {
    fn tell(&mut self, cx: &mut (impl Shared + Clock)) -> HostResult<()> {
        let now = cx.monotonic();
        let Some(seat) = self.seat else {
            return self.take_seat(cx, now);
        };
        // Nobody else writes this seat while it is not stale.
        cx.swap_shared(&Seat::key(seat), &self.record(now), Cas::ANY)
            .map(|_| ())
    }

    /// Takes the first free seat. Without one the load of this VM stays unseen, which only loosens
    /// caps; there are more seats than threads.
    fn take_seat(&mut self, cx: &mut (impl Shared + Clock), now: Duration) -> HostResult<()> {
        if self.owner == 0 {
            self.owner = cx.random().max(1);
        }
        for number in 0..MAX_SEATS {
            let key = Seat::key(number);
            let (taken, cas) = match cx.shared(&key)? {
                None => (None, Cas::ABSENT),
                Some((bytes, cas)) => (Seat::decode(&bytes), cas),
            };
            let free = taken.is_none_or(|seat| seat.is_stale(now));
            if free && cx.swap_shared(&key, &self.record(now), cas)? {
                self.seat = Some(number);
                return Ok(());
            }
        }
        Ok(())
    }

    fn record(&self, now: Duration) -> Vec<u8> {
        let in_flight = self
            .in_flight
            .iter()
            .map(|(worker, requests)| (*worker, *requests));
        Seat {
            owner: self.owner,
            beat: now,
            in_flight: in_flight.collect(),
        }
        .encode()
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use dragoman_contract::load::STALE;
    use dragoman_sdk::fake::{FakeHost, SharedMap};

    use super::*;

    /// One VM: its host and its load.
    struct Vm(FakeHost, Load);

    fn vm(shared: &SharedMap, owner: u64) -> Vm {
        let random = [owner].into();
        Vm(
            FakeHost {
                shared: Rc::clone(shared),
                random,
                ..FakeHost::default()
            },
            Load::default(),
        )
    }

    impl Vm {
        fn at(&mut self, now: Duration) -> &mut Self {
            self.0.now = now;
            self
        }
        fn begin(&mut self, worker: &str) {
            self.1.begin(&mut self.0, worker).unwrap();
        }
        fn end(&mut self, worker: &str) {
            self.1.end(&mut self.0, worker).unwrap();
        }
        fn beat(&mut self) {
            self.1.beat(&mut self.0).unwrap();
        }
    }

    fn seat(shared: &SharedMap, number: u16) -> Option<Vec<(u64, u32)>> {
        let shared = shared.borrow();
        let (bytes, _) = shared.get(&Seat::key(number))?;
        Some(Seat::decode(bytes).unwrap().in_flight)
    }

    #[test]
    fn every_vm_has_a_seat_and_it_is_empty_when_all_is_over() {
        let shared = SharedMap::default();
        let (mut first, mut second) = (vm(&shared, 1), vm(&shared, 2));
        first.begin("w1");
        first.begin("w1");
        second.begin("w2");
        assert_eq!(seat(&shared, 0), Some(vec![(worker_hash("w1"), 2)]));
        assert_eq!(seat(&shared, 1), Some(vec![(worker_hash("w2"), 1)]));
        for _ in 0..2 {
            first.end("w1");
        }
        second.end("w2");
        assert_eq!(
            (seat(&shared, 0), seat(&shared, 1)),
            (Some(vec![]), Some(vec![]))
        );
    }

    #[test]
    fn the_seat_of_a_silent_vm_is_taken_and_it_finds_another() {
        let shared = SharedMap::default();
        let (mut silent, mut other) = (vm(&shared, 1), vm(&shared, 2));
        silent.begin("w1");
        other.at(STALE).begin("w2");
        assert_eq!(seat(&shared, 0), Some(vec![(worker_hash("w2"), 1)]));
        silent.at(STALE).beat();
        assert_eq!(seat(&shared, 0), Some(vec![(worker_hash("w2"), 1)]));
        assert_eq!(seat(&shared, 1), Some(vec![(worker_hash("w1"), 1)]));
    }

    #[test]
    fn a_beat_keeps_a_seat_alive() {
        let shared = SharedMap::default();
        let (mut first, mut second) = (vm(&shared, 1), vm(&shared, 2));
        first.begin("w1");
        first.at(STALE / 2).beat();
        second.at(STALE).begin("w2");
        assert_eq!(seat(&shared, 0), Some(vec![(worker_hash("w1"), 1)]));
        assert_eq!(seat(&shared, 1), Some(vec![(worker_hash("w2"), 1)]));
    }

    #[test]
    fn a_vm_without_requests_takes_no_seat() {
        let shared = SharedMap::default();
        vm(&shared, 1).beat();
        assert_eq!(seat(&shared, 0), None);
    }
}
