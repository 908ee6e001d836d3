//! The phases of `select`.

use std::rc::Rc;

use dragoman_contract::names::{self, envoy, property};
use dragoman_contract::records::{MAX_CANDIDATES, RETRIABLE_STATUSES};
use dragoman_contract::{Candidate, Code, Mode, Plan, RequestRecord, Target};
use dragoman_sdk::host::{Cas, Clock, Shared};
use dragoman_sdk::{Filter, HeadersFlow, HostResult, Reply, RequestHeaders};
use dragoman_strategy::{Ticket, order};

use crate::config::{Place, Select};

/// Which failures another candidate is tried for: no connection, a connection that ended or a
/// time-out before the response began, and [`RETRIABLE_STATUSES`].
const RETRY_ON: &[u8] = b"connect-failure,reset,retriable-status-codes";
/// How often a lost race for the turn is run again. Every loss is another request's gain, so this
/// many losses in a row mean more than this many threads at the same key at the same moment.
const TURN_TRIES: usize = 8;

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
        let usable = usable(&self.plugin, &record);
        if usable.is_empty() {
            let reply = Reply::error(Code::NoCapacity).dialect(record.api.into());
            return Ok(HeadersFlow::Reply(reply));
        }
        let candidates = ordered(cx, &record, &usable)?;
        let Some(first) = candidates.first().cloned() else {
            let reply = Reply::error(Code::NoCapacity).dialect(record.api.into());
            return Ok(HeadersFlow::Reply(reply));
        };
        let plan = Plan {
            body_len: record.body_len,
            model_start: record.model_start,
            model_end: record.model_end,
            timeout_ms: record.timeout_ms,
            candidates,
        };
        cx.publish(property::PLAN, &plan.encode())?;
        hand_to_envoy(cx, &plan, &first)?;
        Ok(HeadersFlow::Continue)
    }
}

/// The targets whose worker this filter knows. One that it does not know is from a configuration
/// that has not reached this thread, or has left it.
fn usable<'a>(plugin: &'a Select, record: &RequestRecord<'a>) -> Vec<(Target<'a>, &'a Place)> {
    let place = |target: &Target<'a>| plugin.places.get(target.worker);
    record
        .targets
        .iter()
        .filter_map(|target| Some((target.clone(), place(target)?)))
        .collect()
}

/// The candidates in the order in which they are tried.
fn ordered<'a>(
    cx: &mut RequestHeaders<'_>,
    record: &RequestRecord<'a>,
    usable: &[(Target<'a>, &'a Place)],
) -> HostResult<Vec<Candidate<'a>>> {
    let ticket = match record.mode {
        Mode::Failover => Ticket { random: 0, turn: 0 },
        Mode::Weighted => Ticket {
            random: cx.random(),
            turn: 0,
        },
        Mode::RoundRobin => Ticket {
            random: 0,
            turn: next_turn(cx, record.endpoint)?,
        },
    };
    let weights: Vec<u32> = usable.iter().map(|(target, _)| target.weight).collect();
    let most = usize::from(record.max_attempts).min(MAX_CANDIDATES);
    let order = order(record.mode, &weights, ticket, most);
    Ok(order
        .into_iter()
        .filter_map(|index| usable.get(index))
        .map(|(target, place)| Candidate {
            cluster: &place.cluster,
            address: &place.address,
            worker: target.worker,
            served_model_name: target.served_model_name,
        })
        .collect())
}

/// Takes the next turn of an endpoint, shared by all threads. Names come from the configuration,
/// so there are as many keys as endpoints there ever were, not as clients please.
///
/// After [`TURN_TRIES`] lost races the turn is drawn at random, which is as even in the long run.
fn next_turn(cx: &mut RequestHeaders<'_>, endpoint: &str) -> HostResult<u32> {
    let key = format!("dragoman/1/turn/{endpoint}");
    for _ in 0..TURN_TRIES {
        let (turn, cas) = match cx.shared(&key)? {
            Some((bytes, cas)) => (
                bytes.try_into().map(u32::from_le_bytes).unwrap_or_default(),
                cas,
            ),
            None => (0, Cas::ABSENT),
        };
        if cx.swap_shared(&key, &turn.wrapping_add(1).to_le_bytes(), cas)? {
            return Ok(turn);
        }
    }
    Ok((cx.random() & u64::from(u32::MAX)) as u32)
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
