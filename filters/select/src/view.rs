//! What this thread knows of the workers: their health and circuits, read from shared data at most
//! every [`FRESH`], and their load, read when it is asked for.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use dragoman_circuit::Circuit;
use dragoman_contract::Health;
use dragoman_contract::load::{MAX_SEATS, Seat};
use dragoman_sdk::HostResult;
use dragoman_sdk::host::Shared;

/// How long a look at shared data counts. Short beside the time between two checks and beside a
/// cool-down, long beside the time between two requests under load.
pub(crate) const FRESH: Duration = Duration::from_millis(100);

/// Worker id → what was last read, for the workers of the configuration only.
#[derive(Debug, Default)]
pub(crate) struct View(RefCell<BTreeMap<String, Seen>>);

/// What was last read of a worker.
#[derive(Clone, Debug, Default)]
struct Seen {
    at: Duration,
    health: Vec<u8>,
    circuit: Vec<u8>,
}

/// What is known of a worker now.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// Says that it takes requests, or nothing is known against it.
    pub ready: bool,
    /// Has the model, or may have it.
    pub warm: bool,
    pub circuit: Circuit,
}

impl View {
    /// What is known of a worker. `health_age` is how long a check counts, `None` where nobody
    /// checks: what was found out too long ago is unknown, not bad.
    ///
    /// # Errors
    /// When shared data fails.
    pub(crate) fn of(
        &self,
        cx: &mut impl Shared,
        now: Duration,
        worker: &str,
        model: &str,
        health_age: Option<Duration>,
    ) -> HostResult<Known> {
        let mut view = self.0.borrow_mut();
        let fresh = view
            .get(worker)
            .is_some_and(|seen| now.saturating_sub(seen.at) < FRESH);
        if !fresh {
            let mut read = |key: &str| -> HostResult<Vec<u8>> {
                Ok(cx.shared(key)?.map(|(bytes, _)| bytes).unwrap_or_default())
            };
            let health = if health_age.is_some() {
                read(&Health::key(worker))?
            } else {
                Vec::new()
            };
            let seen = Seen {
                at: now,
                health,
                circuit: read(&Circuit::key(worker))?,
            };
            view.insert(worker.to_owned(), seen);
        }
        let seen = view.get(worker).cloned().unwrap_or_default();
        let health = Health::decode(&seen.health).filter(|health| {
            health_age.is_some_and(|age| now.saturating_sub(health.checked) < age)
        });
        Ok(Known {
            ready: health.as_ref().is_none_or(|health| health.ready),
            warm: health.as_ref().is_none_or(|health| health.is_warm(model)),
            circuit: Circuit::decode(&seen.circuit),
        })
    }

    /// Forgets a worker, so that the next look reads it anew.
    pub(crate) fn forget(&self, worker: &str) {
        self.0.borrow_mut().remove(worker);
    }
}

/// Requests in flight per worker hash, over all threads. Threads that only just began an attempt
/// may be missing, so a cap can be passed by one request per other thread.
///
/// # Errors
/// When shared data fails.
pub(crate) fn load(cx: &mut impl Shared, now: Duration) -> HostResult<BTreeMap<u64, u32>> {
    let mut sum = BTreeMap::new();
    for seat in 0..MAX_SEATS {
        let Some((bytes, _)) = cx.shared(&Seat::key(seat))? else {
            break;
        };
        let Some(seat) = Seat::decode(&bytes).filter(|seat| !seat.is_stale(now)) else {
            continue;
        };
        for (worker, requests) in seat.in_flight {
            let total: &mut u32 = sum.entry(worker).or_default();
            *total = total.saturating_add(requests);
        }
    }
    Ok(sum)
}
