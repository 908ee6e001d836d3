//! From the targets of an endpoint to those that may be tried now, and why the others may not.

use std::time::Duration;

use dragoman_circuit::{Admission, Circuit, Ticket, admits};
use dragoman_contract::load::worker_hash;
use dragoman_contract::{Code, RequestRecord, Target};
use dragoman_sdk::HostResult;
use dragoman_sdk::host::{Shared, millis};

use crate::config::{Place, Select};
use crate::view::load;

/// A target that may be tried.
#[derive(Clone, Debug)]
pub(crate) struct Usable<'a> {
    pub target: Target<'a>,
    pub place: &'a Place,
    pub warm: bool,
    /// Its circuit's cool-down is over, so it may be tried by one request.
    pub trial: bool,
}

/// Who may be tried.
#[derive(Debug, Default)]
pub(crate) struct Pool<'a> {
    /// In the order of the document.
    pub usable: Vec<Usable<'a>>,
    /// Targets left out because their worker is not ready or its circuit is open.
    pub unavailable: usize,
    /// Targets left out because their worker is at its cap.
    pub full: usize,
}

impl Pool<'_> {
    /// Why there is nobody to try.
    pub(crate) fn refusal(&self) -> Code {
        if self.full > 0 {
            Code::Overloaded
        } else if self.unavailable > 0 || self.usable.iter().any(|usable| usable.trial) {
            Code::NoBackendAvailable
        } else {
            Code::NoCapacity
        }
    }
}

impl Select {
    /// Sorts the targets out. One whose worker this filter does not know is from a configuration
    /// that has not reached this thread, or has left it.
    ///
    /// # Errors
    /// When shared data fails.
    pub(crate) fn pool<'a>(
        &'a self,
        cx: &mut impl Shared,
        record: &RequestRecord<'a>,
        now: Duration,
    ) -> HostResult<Pool<'a>> {
        let mut pool = Pool::default();
        for target in &record.targets {
            let Some(place) = self.places.get(target.worker) else {
                continue;
            };
            let known = self.view.of(
                cx,
                now,
                target.worker,
                target.served_model_name,
                self.health_age,
            )?;
            let admission = self
                .trial_lease_ms(record)
                .map(|lease_ms| admits(&known.circuit, millis(now), lease_ms));
            if !known.ready || matches!(admission, Some(Admission::Open { .. })) {
                pool.unavailable += 1;
                continue;
            }
            let trial = matches!(admission, Some(Admission::Trial { .. }));
            pool.usable.push(Usable {
                target: target.clone(),
                place,
                warm: known.warm,
                trial,
            });
        }
        self.drop_full(cx, &mut pool, now)?;
        Ok(pool)
    }

    fn drop_full(
        &self,
        cx: &mut impl Shared,
        pool: &mut Pool<'_>,
        now: Duration,
    ) -> HostResult<()> {
        if pool
            .usable
            .iter()
            .all(|usable| usable.place.max_in_flight.is_none())
        {
            return Ok(());
        }
        let load = load(cx, now)?;
        let before = pool.usable.len();
        pool.usable.retain(|usable| {
            let in_flight = load
                .get(&worker_hash(usable.target.worker))
                .copied()
                .unwrap_or(0);
            usable
                .place
                .max_in_flight
                .is_none_or(|most| in_flight < most)
        });
        pool.full = before - pool.usable.len();
        Ok(())
    }

    /// Claims the trial of a worker whose cool-down is over; `None` if another request was faster.
    ///
    /// # Errors
    /// When shared data fails.
    pub(crate) fn claim_trial(
        &self,
        cx: &mut impl Shared,
        record: &RequestRecord<'_>,
        worker: &str,
        now: Duration,
    ) -> HostResult<Option<Ticket>> {
        let Some(lease_ms) = self.trial_lease_ms(record) else {
            return Ok(None);
        };
        self.view.forget(worker);
        let key = Circuit::key(worker);
        let Some((bytes, cas)) = cx.shared(&key)? else {
            return Ok(None);
        };
        match admits(&Circuit::decode(&bytes), millis(now), lease_ms) {
            Admission::Trial { circuit, ticket } => {
                let claimed = cx.swap_shared(&key, &circuit.encode(), cas)?;
                Ok(claimed.then_some(ticket))
            }
            Admission::Closed | Admission::Open { .. } => Ok(None),
        }
    }

    /// The length of a trial: the time to the first byte and a cool-down more, so that a trial whose
    /// outcome is lost keeps a healthy worker out no longer than that. `None`: no circuit opens.
    fn trial_lease_ms(&self, record: &RequestRecord<'_>) -> Option<u64> {
        let rule = self.circuit?;
        Some(
            rule.cooldown_ms
                .saturating_add(u64::from(record.timeout_ms)),
        )
    }
}
