//! What is known of the targets of an endpoint when a request asks for them.

use std::time::Duration;

use dragoman_circuit::{Admission, Circuit};
use dragoman_contract::RequestRecord;
use dragoman_sdk::HostResult;
use dragoman_sdk::host::{Shared, millis};
use dragoman_selection::{Candidate, Need, caller_hash};

use crate::config::{Endpoint, Select, Worker};
use crate::view::{FRESH, Known};

/// Bytes of a body for each token of a prompt, about: what tokenizers make of English in JSON. Prompts in
/// other scripts have more tokens; the worker refuses what is too long for it after all.
const BYTES_PER_TOKEN: u32 = 4;

/// What a request asks of a worker.
pub(crate) fn need(record: &RequestRecord<'_>) -> Need {
    let prompt = record.body_len / BYTES_PER_TOKEN;
    Need {
        class: record.class,
        caller: caller_hash(record.tenant, record.app),
        tokens: prompt.saturating_add(record.max_tokens),
        tools: record.tools,
    }
}

/// What is the same for every request for an endpoint for [`FRESH`]: with a hundred workers it costs far
/// more to put together than to copy.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// When the oldest of what it is made of was read, so that nothing is ever older than [`FRESH`].
    /// `None`: there is none, or it is to be taken anew.
    at: Option<Duration>,
    candidates: Vec<Candidate>,
    /// Circuits that are not closed, by the place of their target: what they say depends on the moment.
    circuits: Vec<(usize, Circuit)>,
}

impl Snapshot {
    pub(crate) fn forget(&mut self) {
        self.at = None;
    }
}

impl Select {
    /// The targets of an endpoint, in the order of the document.
    ///
    /// # Errors
    /// When shared data fails.
    pub(crate) fn candidates(
        &self,
        cx: &mut impl Shared,
        endpoint: &Endpoint,
        tenant: &str,
        now: Duration,
    ) -> HostResult<Vec<Candidate>> {
        let mut candidates = self.known(cx, endpoint, now)?;
        if endpoint.strategy.counts_requests() {
            // Otherwise it is found out when a place is claimed.
            let in_flight = self.load.in_flight(cx, now)?;
            for (candidate, target) in candidates.iter_mut().zip(&endpoint.targets) {
                candidate.in_flight = in_flight.get(target.worker).copied().unwrap_or(0);
            }
        }
        if self.restricted {
            let regions = self.residency.get(tenant).map(Vec::as_slice);
            for (candidate, target) in candidates.iter_mut().zip(&endpoint.targets) {
                let worker = self.workers.get(target.worker);
                candidate.permitted = worker.is_some_and(|it| it.permits(tenant, regions));
            }
        }
        Ok(candidates)
    }

    /// What does not depend on the request, at most [`FRESH`] old.
    fn known(
        &self,
        cx: &mut impl Shared,
        endpoint: &Endpoint,
        now: Duration,
    ) -> HostResult<Vec<Candidate>> {
        let mut snapshot = endpoint.snapshot.borrow_mut();
        let fresh = |at| now.saturating_sub(at) < FRESH;
        if !snapshot.at.is_some_and(fresh) {
            *snapshot = self.look(cx, endpoint, now)?;
        }
        let mut candidates = snapshot.candidates.clone();
        for (place, circuit) in &snapshot.circuits {
            if let Some(candidate) = candidates.get_mut(*place) {
                candidate.admission = self.admission(circuit, endpoint, now);
            }
        }
        Ok(candidates)
    }

    fn look(
        &self,
        cx: &mut impl Shared,
        endpoint: &Endpoint,
        now: Duration,
    ) -> HostResult<Snapshot> {
        let mut snapshot = Snapshot {
            at: Some(now),
            ..Snapshot::default()
        };
        for target in &endpoint.targets {
            let Some(worker) = self.workers.get(target.worker) else {
                continue;
            };
            let at = (target.worker, worker);
            let model = &target.served_model_name;
            let known = self.view.of(cx, now, at, model, self.health_age)?;
            snapshot.at = snapshot.at.min(Some(known.at));
            if !known.circuit.is_closed() {
                let place = snapshot.candidates.len();
                snapshot.circuits.push((place, known.circuit));
            }
            snapshot.candidates.push(Candidate {
                weight: target.weight,
                context_tokens: target.context_tokens,
                tools: target.tools,
                ..worker.candidate(&known)
            });
        }
        if endpoint.strategy.measures() {
            self.time(cx, &mut snapshot.candidates, now)?;
        }
        Ok(snapshot)
    }

    /// Notes how fast the targets answered lately.
    ///
    /// # Errors
    /// When shared data fails.
    pub(crate) fn time(
        &self,
        cx: &mut impl Shared,
        candidates: &mut [Candidate],
        now: Duration,
    ) -> HostResult<()> {
        let speed = self.speed.now(cx, now)?;
        for candidate in candidates {
            let latency = speed.of(candidate.worker);
            candidate.latency_ms = latency.first_byte.value_ms(millis(now));
            candidate.completion_ms = latency.completion.value_ms(millis(now));
        }
        Ok(())
    }
}

impl Worker {
    /// The worker as a candidate, without what only its targets say.
    fn candidate(&self, known: &Known) -> Candidate {
        Candidate {
            canary: self.canary,
            ready: known.ready,
            warm: known.warm,
            admission: Admission::Closed,
            classes: self.classes,
            cap: self.cap,
            ..Candidate::unknown(self.hash)
        }
    }

    /// Whether a tenant's requests may go there; `regions` are those its data may be in.
    fn permits(&self, tenant: &str, regions: Option<&[String]>) -> bool {
        let of_tenant = |tenants: &Vec<String>| tenants.iter().any(|permitted| permitted == tenant);
        let within =
            |regions: &[String]| self.region.as_ref().is_some_and(|it| regions.contains(it));
        self.tenants.as_ref().is_none_or(of_tenant) && regions.is_none_or(within)
    }
}
