//! What is known of the targets of an endpoint when a request asks for them.

use std::time::Duration;

use dragoman_contract::RequestRecord;
use dragoman_sdk::HostResult;
use dragoman_sdk::host::{Shared, millis};
use dragoman_selection::{Candidate, Need, caller_hash};

use crate::config::{Endpoint, Select, Worker};

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
        let in_flight = if endpoint.strategy.counts_requests() {
            self.load.in_flight(cx, now)?
        } else {
            // Found out when a place is claimed.
            Vec::new()
        };
        let speed = match endpoint.strategy.measures() {
            true => Some(self.speed.now(cx, now)?),
            // Found out when a request is refused.
            false => None,
        };
        let regions = self.residency.get(tenant).map(Vec::as_slice);
        let now_ms = millis(now);
        let mut candidates = Vec::with_capacity(endpoint.targets.len());
        for target in &endpoint.targets {
            let Some(worker) = self.workers.get(target.worker) else {
                continue;
            };
            let known = self.view.of(
                cx,
                now,
                (target.worker, worker),
                &target.served_model_name,
                self.health_age,
            )?;
            let latency = speed.as_ref().map(|speed| speed.of(worker.hash));
            let latency = latency.unwrap_or_default();
            candidates.push(Candidate {
                worker: worker.hash,
                weight: target.weight,
                canary: worker.canary,
                ready: known.ready,
                warm: known.warm,
                admission: self.admission(&known.circuit, endpoint, now),
                permitted: worker.permits(tenant, regions),
                classes: worker.classes,
                context_tokens: target.context_tokens,
                tools: target.tools,
                in_flight: in_flight.get(target.worker).copied().unwrap_or(0),
                cap: worker.cap,
                latency_ms: latency.first_byte.value_ms(now_ms),
                completion_ms: latency.completion.value_ms(now_ms),
            });
        }
        Ok(candidates)
    }

    /// Finds out how long requests take at the targets, so that a refusal can say when there is room.
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
            let completion = speed.of(candidate.worker).completion;
            candidate.completion_ms = completion.value_ms(millis(now));
        }
        Ok(())
    }
}

impl Worker {
    /// Whether a tenant's requests may go there; `regions` are those its data may be in.
    fn permits(&self, tenant: &str, regions: Option<&[String]>) -> bool {
        let of_tenant = |tenants: &Vec<String>| tenants.iter().any(|permitted| permitted == tenant);
        let within =
            |regions: &[String]| self.region.as_ref().is_some_and(|it| regions.contains(it));
        self.tenants.as_ref().is_none_or(of_tenant) && regions.is_none_or(within)
    }
}
