//! What this thread knows of the workers' health and circuits: read from shared data at most every
//! [`FRESH`].

use std::cell::RefCell;
use std::time::Duration;

use dragoman_circuit::Circuit;
use dragoman_contract::Health;
use dragoman_sdk::HostResult;
use dragoman_sdk::host::Shared;

use crate::config::Worker;

/// How long a look at shared data counts. Short beside the time between two checks and beside a
/// cool-down, long beside the time between two requests under load.
pub(crate) const FRESH: Duration = Duration::from_millis(100);

/// What was last read of each worker of the configuration.
#[derive(Debug)]
pub(crate) struct View(Vec<RefCell<Seen>>);

/// What was last read of a worker.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// `None`: never read, or to be read anew.
    at: Option<Duration>,
    health: Option<Findings>,
    circuit: Circuit,
}

/// The latest check of a worker.
#[derive(Clone, Debug)]
struct Findings {
    ready: bool,
    /// Models that it lists, in their order; `None` while that is not known.
    models: Option<Vec<String>>,
    checked: Duration,
}

/// What is known of a worker now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// Says that it takes requests, or nothing is known against it.
    pub ready: bool,
    /// Has the model, or may have it.
    pub warm: bool,
    pub circuit: Circuit,
    /// When that was read.
    pub at: Duration,
}

impl View {
    pub(crate) fn new(workers: usize) -> Self {
        Self(vec![RefCell::default(); workers])
    }

    /// What is known of the worker with this index. `health_age` is how long a check counts, `None`
    /// where nobody checks: what was found out too long ago is unknown, not bad.
    ///
    /// # Errors
    /// When shared data fails.
    pub(crate) fn of(
        &self,
        cx: &mut impl Shared,
        now: Duration,
        (index, worker): (usize, &Worker),
        model: &str,
        health_age: Option<Duration>,
    ) -> HostResult<Known> {
        let Some(cell) = self.0.get(index) else {
            return Ok(Known::nothing(now));
        };
        let mut seen = cell.borrow_mut();
        let fresh = seen.at.is_some_and(|at| now.saturating_sub(at) < FRESH);
        if !fresh {
            *seen = Seen::read(cx, now, &worker.id, health_age.is_some())?;
        }
        let counts = |found: &&Findings| {
            health_age.is_some_and(|age| now.saturating_sub(found.checked) < age)
        };
        let found = seen.health.as_ref().filter(counts);
        Ok(Known {
            ready: found.is_none_or(|found| found.ready),
            warm: found.is_none_or(|found| found.may_have(model)),
            circuit: seen.circuit,
            at: seen.at.unwrap_or(now),
        })
    }

    /// Forgets a worker, so that the next look reads it anew.
    pub(crate) fn forget(&self, index: usize) {
        if let Some(cell) = self.0.get(index) {
            cell.borrow_mut().at = None;
        }
    }
}

impl Known {
    const fn nothing(at: Duration) -> Self {
        Self {
            ready: true,
            warm: true,
            circuit: Circuit::CLOSED,
            at,
        }
    }
}

impl Seen {
    fn read(
        cx: &mut impl Shared,
        now: Duration,
        worker: &str,
        is_checked: bool,
    ) -> HostResult<Self> {
        let mut read = |key: &str| -> HostResult<Vec<u8>> {
            Ok(cx.shared(key)?.map(|(bytes, _)| bytes).unwrap_or_default())
        };
        let health = if is_checked {
            read(&Health::key(worker))?
        } else {
            Vec::new()
        };
        Ok(Self {
            at: Some(now),
            health: Health::decode(&health).map(Findings::of),
            circuit: Circuit::decode(&read(&Circuit::key(worker))?),
        })
    }
}

impl Findings {
    fn of(health: Health<'_>) -> Self {
        let sorted = |models: Vec<&str>| {
            let mut models: Vec<String> = models.into_iter().map(str::to_owned).collect();
            models.sort_unstable();
            models
        };
        Self {
            ready: health.ready,
            models: health.models.map(sorted),
            checked: health.checked,
        }
    }

    fn may_have(&self, model: &str) -> bool {
        self.models.as_ref().is_none_or(|models| {
            let found = models.binary_search_by(|listed| listed.as_str().cmp(model));
            found.is_ok()
        })
    }
}
