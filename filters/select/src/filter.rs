//! The phases of `select`.

use std::rc::Rc;
use std::time::Duration;

use dragoman_contract::names::{self, envoy, property};
use dragoman_contract::records::{MAX_CANDIDATES, RETRIABLE_STATUSES};
use dragoman_contract::{Candidate, Code, Mode, Plan, RequestRecord};
use dragoman_sdk::host::Clock;
use dragoman_sdk::{Filter, HeadersFlow, HostResult, Reply, RequestHeaders};
use dragoman_slots::{Swap, swap};
use dragoman_strategy::{Ticket, order};

use crate::config::Select;
use crate::pool::{Pool, Usable};

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
        let now = cx.monotonic();
        let pool = self.plugin.pool(cx, &record, now)?;
        let (trial, candidates) = self.candidates(cx, &record, &pool, now)?;
        let Some(first) = candidates.first().cloned() else {
            let reply = Reply::error(pool.refusal());
            return Ok(HeadersFlow::Reply(reply));
        };
        let plan = Plan {
            body_len: record.body_len,
            model_start: record.model_start,
            model_end: record.model_end,
            timeout_ms: record.timeout_ms,
            trial,
            candidates,
        };
        cx.publish(property::PLAN, &plan.encode())?;
        hand_to_envoy(cx, &plan, &first)?;
        Ok(HeadersFlow::Continue)
    }
}

impl Selecting {
    /// The candidates in the order in which they are tried: one worker whose circuit waits for a
    /// trial, if this request gets it; then those that have the model; then those that do not.
    fn candidates<'a>(
        &self,
        cx: &mut RequestHeaders<'_>,
        record: &RequestRecord<'a>,
        pool: &Pool<'a>,
        now: Duration,
    ) -> HostResult<(Option<u32>, Vec<Candidate<'a>>)> {
        let (trial, first) = self.trial(cx, record, pool, now)?.unzip();
        let mut chosen = Vec::from_iter(first);
        let ticket = ticket(cx, record)?;
        for warm in [true, false] {
            let group: Vec<&Usable<'a>> = pool
                .usable
                .iter()
                .filter(|usable| !usable.trial && usable.warm == warm)
                .collect();
            let weights: Vec<u32> = group.iter().map(|usable| usable.target.weight).collect();
            let order = order(record.mode, &weights, ticket, MAX_CANDIDATES);
            chosen.extend(
                order
                    .into_iter()
                    .filter_map(|index| group.get(index).copied()),
            );
        }
        chosen.truncate(usize::from(record.max_attempts).min(MAX_CANDIDATES));
        Ok((trial, chosen.into_iter().map(candidate).collect()))
    }

    /// The first worker whose trial this request gets, with the ticket of that trial.
    fn trial<'p, 'a>(
        &self,
        cx: &mut RequestHeaders<'_>,
        record: &RequestRecord<'_>,
        pool: &'p Pool<'a>,
        now: Duration,
    ) -> HostResult<Option<(u32, &'p Usable<'a>)>> {
        let weighs =
            |usable: &Usable<'_>| record.mode != Mode::Weighted || usable.target.weight > 0;
        let waiting = pool.usable.iter().filter(|usable| usable.trial);
        for usable in waiting.filter(|usable| weighs(usable)) {
            let worker = usable.target.worker;
            if let Some(ticket) = self.plugin.claim_trial(cx, record, worker, now)? {
                return Ok(Some((ticket.to_u32(), usable)));
            }
        }
        Ok(None)
    }
}

fn candidate<'a>(usable: &Usable<'a>) -> Candidate<'a> {
    Candidate {
        cluster: &usable.place.cluster,
        address: &usable.place.address,
        worker: usable.target.worker,
        served_model_name: usable.target.served_model_name,
    }
}

/// What the order of the endpoint's mode depends on.
fn ticket(cx: &mut RequestHeaders<'_>, record: &RequestRecord<'_>) -> HostResult<Ticket> {
    Ok(match record.mode {
        Mode::Failover => Ticket { random: 0, turn: 0 },
        Mode::Weighted => Ticket {
            random: cx.random(),
            turn: 0,
        },
        Mode::RoundRobin => Ticket {
            random: 0,
            turn: next_turn(cx, record.endpoint)?,
        },
    })
}

/// Takes the next turn of an endpoint, shared by all threads. Names come from the configuration,
/// so there are as many keys as endpoints there ever were, not as clients please.
///
/// Where every race for it is lost, the turn is drawn at random, which is as even in the long run.
fn next_turn(cx: &mut RequestHeaders<'_>, endpoint: &str) -> HostResult<u32> {
    let key = format!("dragoman/1/turn/{endpoint}");
    let taken = swap(cx, &key, |bytes| {
        let turn = bytes.try_into().map(u32::from_le_bytes).unwrap_or_default();
        Swap::Write(turn.wrapping_add(1).to_le_bytes().to_vec(), turn)
    })?;
    Ok(taken.unwrap_or_else(|| (cx.random() & u64::from(u32::MAX)) as u32))
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
