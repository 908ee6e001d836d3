//! The phases of `select`.

use std::rc::Rc;

use dragoman_contract::names::{self, envoy, property};
use dragoman_contract::records::RETRIABLE_STATUSES;
use dragoman_contract::{Candidate, Code, Plan, RequestRecord};
use dragoman_sdk::host::Clock;
use dragoman_sdk::{Filter, HeadersFlow, HostResult, Reply, RequestHeaders};
use dragoman_selection::refusal;

use crate::choice::Choice;
use crate::config::{Endpoint, Select};
use crate::route;

/// Which failures another candidate is tried for: no connection, a connection that ended or a
/// time-out before the response began, and [`RETRIABLE_STATUSES`].
const RETRY_ON: &[u8] = b"connect-failure,reset,retriable-status-codes";

/// One request's way through `select`.
pub struct Selecting {
    plugin: Rc<Select>,
}

impl Selecting {
    pub(crate) fn new(plugin: Rc<Select>) -> Self {
        Self { plugin }
    }
}

impl Filter for Selecting {
    fn on_request_headers(&mut self, cx: &mut RequestHeaders<'_>) -> HostResult<HeadersFlow> {
        let bytes = cx.property(property::REQUEST)?.unwrap_or_default();
        let Some(record) = RequestRecord::decode(&bytes) else {
            return Ok(HeadersFlow::Reply(
                Reply::error(Code::Misconfigured)
                    .message("select needs the alias filter before it"),
            ));
        };
        // An endpoint of a configuration that has not reached this filter, or has left it.
        let Some(endpoint) = self.plugin.endpoints.get(record.endpoint) else {
            return Ok(HeadersFlow::Reply(Reply::error(Code::NoCapacity)));
        };
        let now = cx.monotonic();
        let mut choice = self.plugin.choose(cx, &record, endpoint, now)?;
        if choice.order.is_empty() {
            self.plugin.time(cx, &mut choice.candidates, now)?;
        }
        let route = route::text(&self.plugin, endpoint, &choice);
        cx.publish(property::ROUTE, route.as_bytes())?;
        let candidates = self.plugin.planned(endpoint, &choice);
        let Some(first) = candidates.first().cloned() else {
            return Ok(HeadersFlow::Reply(self.plugin.refuse(&choice)));
        };
        let plan = Plan {
            body_len: record.body_len,
            model_start: record.model_start,
            model_end: record.model_end,
            timeout_ms: endpoint.timeout_ms,
            trial: choice.trial.map(|ticket| ticket.to_u32()),
            claim: choice.claim,
            candidates,
        };
        cx.publish(property::PLAN, &plan.encode())?;
        hand_to_envoy(cx, &plan, &first)?;
        Ok(HeadersFlow::Continue)
    }
}

impl Select {
    fn planned<'a>(&'a self, endpoint: &'a Endpoint, choice: &Choice) -> Vec<Candidate<'a>> {
        let planned = |place: &usize| {
            let target = endpoint.targets.get(*place)?;
            let worker = self.workers.get(target.worker)?;
            Some(Candidate {
                cluster: &worker.cluster,
                address: &worker.address,
                worker: &worker.id,
                served_model_name: &target.served_model_name,
            })
        };
        choice.order.iter().filter_map(planned).collect()
    }

    fn refuse(&self, choice: &Choice) -> Reply {
        let refusal = refusal(
            &choice.candidates,
            &choice.removed,
            &choice.need,
            &self.policy,
        );
        let reply = Reply::error(refusal.code);
        match refusal.retry_after_s {
            Some(seconds) => reply.retry_after_s(seconds),
            None => reply,
        }
    }
}

/// The address list, the first cluster, the retries and the time-out of one attempt.
fn hand_to_envoy(
    cx: &mut RequestHeaders<'_>,
    plan: &Plan<'_>,
    first: &Candidate<'_>,
) -> HostResult<()> {
    let addresses: Vec<&str> = plan
        .candidates
        .iter()
        .map(|candidate| candidate.address)
        .collect();
    cx.set_request_header(names::ENDPOINT_LIST, addresses.join(",").as_bytes())?;
    cx.set_request_header(names::CLUSTER, first.cluster.as_bytes())?;
    cx.set_request_header(
        envoy::PER_TRY_TIMEOUT_MS,
        plan.timeout_ms.to_string().as_bytes(),
    )?;
    let retries = plan.candidates.len().saturating_sub(1);
    if retries > 0 {
        cx.set_request_header(envoy::MAX_RETRIES, retries.to_string().as_bytes())?;
        cx.set_request_header(envoy::RETRY_ON, RETRY_ON)?;
        let statuses = RETRIABLE_STATUSES
            .map(|status| status.to_string())
            .join(",");
        cx.set_request_header(envoy::RETRIABLE_STATUS_CODES, statuses.as_bytes())?;
    }
    cx.set_request_header(names::ROUTED, b"1")
}
