//! The one request that tries a worker whose circuit is open.

use std::time::Duration;

use dragoman_circuit::{Admission, Circuit, Ticket, admits, release};
use dragoman_sdk::host::millis;
use dragoman_sdk::{HostResult, RequestHeaders};
use dragoman_slots::{Swap, swap};

use crate::config::{Endpoint, Select};

impl Select {
    pub(crate) fn admission(
        &self,
        circuit: &Circuit,
        endpoint: &Endpoint,
        now: Duration,
    ) -> Admission {
        match self.trial_lease_ms(endpoint) {
            Some(lease_ms) => admits(circuit, millis(now), lease_ms),
            None => Admission::Closed,
        }
    }

    /// Claims the trial of a worker whose cool-down is over; `None` if another request was faster.
    ///
    /// # Errors
    /// When shared data fails.
    pub(crate) fn claim_trial(
        &self,
        cx: &mut RequestHeaders<'_>,
        endpoint: &Endpoint,
        index: usize,
        now: Duration,
    ) -> HostResult<Option<Ticket>> {
        let worker = self.workers.get(index);
        let (Some(lease_ms), Some(worker)) = (self.trial_lease_ms(endpoint), worker) else {
            return Ok(None);
        };
        self.view.forget(index);
        endpoint.snapshot.borrow_mut().forget();
        let claimed = swap(cx, &Circuit::key(&worker.id), |bytes| {
            match admits(&Circuit::decode(bytes), millis(now), lease_ms) {
                Admission::Trial { circuit, ticket } => {
                    Swap::Write(circuit.encode().to_vec(), Some(ticket))
                }
                Admission::Closed | Admission::Open { .. } => Swap::Keep(None),
            }
        })?;
        Ok(claimed.flatten())
    }

    /// Leaves a trial to the next request: it cannot be made now.
    ///
    /// # Errors
    /// When shared data fails.
    pub(crate) fn give_up_trial(
        &self,
        cx: &mut RequestHeaders<'_>,
        index: usize,
        trial: Ticket,
        now: Duration,
    ) -> HostResult<()> {
        let Some(worker) = self.workers.get(index) else {
            return Ok(());
        };
        swap(cx, &Circuit::key(&worker.id), |bytes| {
            match release(&Circuit::decode(bytes), millis(now), trial) {
                Some(circuit) => Swap::Write(circuit.encode().to_vec(), ()),
                None => Swap::Keep(()),
            }
        })?;
        Ok(())
    }

    /// The length of a trial: the time to the first byte and a cool-down more, so that a trial whose
    /// outcome is lost keeps a healthy worker out no longer than that. `None`: no circuit opens.
    fn trial_lease_ms(&self, endpoint: &Endpoint) -> Option<u64> {
        let rule = self.circuit?;
        Some(
            rule.cooldown_ms
                .saturating_add(u64::from(endpoint.timeout_ms)),
        )
    }
}
