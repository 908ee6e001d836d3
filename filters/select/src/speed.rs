//! How fast the workers answered lately, as all threads saw it: read from shared data at most every
//! [`PUBLISH`], as nothing new is there earlier.

use std::cell::{Ref, RefCell};
use std::time::Duration;

use dragoman_contract::load::{MAX_SEATS, Seat};
use dragoman_latency::{Latencies, PUBLISH};
use dragoman_sdk::HostResult;
use dragoman_sdk::host::Shared;

/// What was last read.
#[derive(Debug, Default)]
pub(crate) struct Speed(RefCell<Seen>);

#[derive(Debug, Default)]
struct Seen {
    /// `None`: never read.
    at: Option<Duration>,
    latencies: Latencies,
}

impl Speed {
    /// What all threads saw together.
    ///
    /// # Errors
    /// When shared data fails.
    pub(crate) fn now(
        &self,
        cx: &mut impl Shared,
        now: Duration,
    ) -> HostResult<Ref<'_, Latencies>> {
        let fresh = |at| now.saturating_sub(at) < PUBLISH;
        let mut seen = self.0.borrow_mut();
        if !seen.at.is_some_and(fresh) {
            seen.latencies = Latencies::default();
            for seat in 0..MAX_SEATS {
                match cx.shared(&Latencies::key(seat))? {
                    Some((bytes, _)) => seen.latencies.merge(&Latencies::decode(&bytes)),
                    // Its owner saw no answer yet, or it was never taken, and no later one either.
                    None if cx.shared(&Seat::key(seat))?.is_none() => break,
                    None => {}
                }
            }
            seen.at = Some(now);
        }
        drop(seen);
        Ok(Ref::map(self.0.borrow(), |seen| &seen.latencies))
    }
}
