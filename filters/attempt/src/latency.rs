//! How fast the workers answer, for `select` on every thread to see.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use dragoman_contract::load::worker_hash;
use dragoman_latency::{Latencies, PUBLISH};
use dragoman_sdk::HostResult;
use dragoman_sdk::host::{Cas, Shared, millis};

/// What this VM saw.
#[derive(Debug, Default)]
pub(crate) struct Stopwatch {
    seen: RefCell<Latencies>,
    /// When it was told last; `None`: never.
    told: Cell<Option<Duration>>,
    /// Something was seen since.
    news: Cell<bool>,
}

impl Stopwatch {
    /// Notes a whole answer, and tells it if that is due or nothing was known of the worker; the next
    /// answer or beat does otherwise.
    ///
    /// # Errors
    /// When shared data fails.
    pub(crate) fn observe(
        &self,
        cx: &mut impl Shared,
        now: Duration,
        seat: Option<u16>,
        worker: &str,
        (first_byte, completion): (Duration, Duration),
    ) -> HostResult<()> {
        let (worker, now_ms) = (worker_hash(worker), millis(now));
        let mut seen = self.seen.borrow_mut();
        let unknown = seen.of(worker).completion.value_ms(now_ms).is_none();
        seen.observe(worker, first_byte, completion, now_ms);
        drop(seen);
        self.news.set(true);
        let due = |told| now.saturating_sub(told) >= PUBLISH;
        if unknown || self.told.get().is_none_or(due) {
            self.tell(cx, now, seat)?;
        }
        Ok(())
    }

    /// Tells what is new. A VM without a seat has nowhere to tell it: there are more seats than
    /// threads.
    ///
    /// # Errors
    /// When shared data fails.
    pub(crate) fn tell(
        &self,
        cx: &mut impl Shared,
        now: Duration,
        seat: Option<u16>,
    ) -> HostResult<()> {
        let Some(seat) = seat.filter(|_| self.news.get()) else {
            return Ok(());
        };
        // Nobody else writes the record of this seat.
        let record = self.seen.borrow().encode();
        cx.swap_shared(&Latencies::key(seat), &record, Cas::ANY)?;
        self.told.set(Some(now));
        self.news.set(false);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use dragoman_sdk::fake::{FakeHost, SharedMap};

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn told(shared: &SharedMap) -> Option<f32> {
        told_of(shared, "w1")
    }

    fn told_of(shared: &SharedMap, worker: &str) -> Option<f32> {
        let shared = shared.borrow();
        let (bytes, _) = shared.get(&Latencies::key(3))?;
        let latency = Latencies::decode(bytes).of(worker_hash(worker));
        latency.first_byte.value_ms(0)
    }

    #[test]
    fn what_was_seen_is_told_at_most_every_tenth_of_a_second() {
        let shared = SharedMap::default();
        let stopwatch = Stopwatch::default();
        let observe = |now, first_byte| {
            let mut host = FakeHost {
                shared: Rc::clone(&shared),
                ..FakeHost::default()
            };
            stopwatch
                .observe(&mut host, now, Some(3), "w1", (first_byte, first_byte * 2))
                .unwrap();
        };
        observe(MS, 100 * MS);
        assert_eq!(told(&shared), Some(100.0));
        observe(MS, 300 * MS);
        assert_eq!(told(&shared), Some(100.0));
        observe(101 * MS, 200 * MS);
        assert!(told(&shared).is_some_and(|value| (value - 200.0).abs() < 1.0));
    }

    #[test]
    fn a_worker_that_nothing_was_known_of_is_told_at_once() {
        let shared = SharedMap::default();
        let stopwatch = Stopwatch::default();
        let mut host = FakeHost {
            shared: Rc::clone(&shared),
            ..FakeHost::default()
        };
        for worker in ["w1", "w2"] {
            let times = (MS, MS);
            stopwatch
                .observe(&mut host, MS, Some(3), worker, times)
                .unwrap();
        }
        assert_eq!(
            (told(&shared), told_of(&shared, "w2")),
            (Some(1.0), Some(1.0))
        );
    }

    #[test]
    fn a_beat_tells_what_is_left_and_nothing_twice() {
        let shared = SharedMap::default();
        let stopwatch = Stopwatch::default();
        let mut host = FakeHost {
            shared: Rc::clone(&shared),
            ..FakeHost::default()
        };
        stopwatch.tell(&mut host, MS, Some(3)).unwrap();
        assert_eq!(told(&shared), None);
        stopwatch
            .observe(&mut host, MS, None, "w1", (MS, MS))
            .unwrap();
        assert_eq!(told(&shared), None);
        stopwatch.tell(&mut host, MS, Some(3)).unwrap();
        assert_eq!(told(&shared), Some(1.0));
        shared.borrow_mut().clear();
        stopwatch.tell(&mut host, MS, Some(3)).unwrap();
        assert_eq!(told(&shared), None);
    }
}
