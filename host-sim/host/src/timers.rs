//! Timers by due time; equal times fire in the order they were set.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::io::UpstreamId;
use crate::stream::StreamKey;

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// A guest's tick, by index of its plugin and generation of its VM.
    Tick { plugin: usize, generation: u32 },
    /// No activity between client and gateway.
    StreamIdle(StreamKey),
    /// Whole time of a request in the router.
    Response(StreamKey),
    /// Back-off is over.
    Retry(StreamKey),
    /// No response headers of an attempt.
    PerTry(UpstreamId),
    /// Silence in an attempt.
    PerTryIdle(UpstreamId),
}

/// Names a timer that was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TimerId(Duration, u64);

/// All timers of a worker.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    due: BTreeMap<TimerId, Timer>,
    set: u64,
}

impl Timers {
    pub(crate) fn set(&mut self, at: Duration, timer: Timer) -> TimerId {
        self.set += 1;
        let id = TimerId(at, self.set);
        self.due.insert(id, timer);
        id
    }

    /// Cancels the timer in `slot`, if it has not fired.
    pub(crate) fn cancel(&mut self, slot: Option<TimerId>) {
        if let Some(id) = slot {
            self.due.remove(&id);
        }
    }

    pub(crate) fn next(&self) -> Option<Duration> {
        self.due.keys().next().map(|id| id.0)
    }

    /// The next timer that is due at `now`.
    pub(crate) fn pop(&mut self, now: Duration) -> Option<Timer> {
        let entry = self.due.first_entry()?;
        (entry.key().0 <= now).then(|| entry.remove())
    }
}
