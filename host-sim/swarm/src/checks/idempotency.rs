//! `filters/idempotency/README.md`: what becomes of a key.

use std::collections::BTreeMap;
use std::time::Duration;

use host_sim_scenario::{End, Visit};
use serde_json::Value;

use super::{admitted_at, is_complete, named};
use crate::body::{body, caller_key};
use crate::gateway::address;
use crate::stage::{Observed, Seen};

/// Requests with one key of one application, by place in the plan.
type Group<'a> = Vec<(usize, &'a Seen)>;

fn groups<'a>(observed: &'a Observed<'_>) -> Vec<Group<'a>> {
    if observed.plan.topology.idempotency.is_none() {
        return Vec::new();
    }
    let mut groups: BTreeMap<(String, &str), Group<'a>> = BTreeMap::new();
    for (place, seen) in observed.seen.iter().enumerate() {
        if let Some(key) = &seen.plan.key {
            let scope = caller_key(observed.plan, &seen.plan.caller);
            let scope = scope.map_or_else(String::new, |key| format!("{} {}", key.tenant, key.app));
            groups.entry((scope, key)).or_default().push((place, seen));
        }
    }
    groups.into_values().collect()
}

/// Between the end of an answer that was kept and the end of its time, no worker hears of the key again; and while a request
/// with it is under way, no other reaches a worker.
pub(super) fn once(observed: &Observed<'_>) -> Vec<String> {
    let Some(rules) = &observed.plan.topology.idempotency else {
        return Vec::new();
    };
    // A VM that traps loses its requests: their keys are free after the lease, while a worker may still be at it.
    let traps = observed
        .plan
        .requests
        .iter()
        .any(|request| request.trap.is_some());
    let ttl = Duration::from_secs(rules.ttl_s);
    let mut found = Vec::new();
    for group in groups(observed) {
        for (first, one) in &group {
            for (second, other) in group.iter().filter(|(second, _)| second != first) {
                let carried_out = admitted_at(other).filter(|_| !other.attempts.is_empty());
                let Some(again) = carried_out else { continue };
                let pair = format!(
                    "{} and {}",
                    named(*first, &one.plan),
                    named(*second, &other.plan)
                );
                if kept_at(one).is_some_and(|kept| again > kept && again < kept + ttl) {
                    found.push(format!("{pair}: kept, and carried out again at {again:?}"));
                }
                if !traps && overlap(one, other) {
                    found.push(format!("{pair}: at workers at the same time"));
                }
            }
        }
    }
    found
}

/// The end of a whole answer that was kept: the log says that the request claimed its key, and nothing else.
fn kept_at(seen: &Seen) -> Option<Duration> {
    let End::Complete(at) = seen.response.end else {
        return None;
    };
    let word = seen
        .lines
        .first()?
        .get("idempotency")
        .and_then(Value::as_str)?;
    (word == "claimed" && seen.response.status == 200).then_some(at)
}

/// With `on_unknown: hold` no worker hears of a key again for its time, once a request with it has an end that nobody knows.
pub(super) fn held(observed: &Observed<'_>) -> Vec<String> {
    let rules = observed.plan.topology.idempotency.as_ref();
    let Some(rules) = rules.filter(|rules| rules.hold) else {
        return Vec::new();
    };
    let mut requests = observed.plan.requests.iter();
    if requests.any(|request| request.trap.is_some()) {
        return Vec::new();
    }
    let ttl = Duration::from_secs(rules.ttl_s);
    let mut found = Vec::new();
    for group in groups(observed) {
        for (first, one) in &group {
            let Some(lost) = unknown_at(one) else {
                continue;
            };
            for (second, other) in &group {
                let again = admitted_at(other).filter(|_| !other.attempts.is_empty());
                if let Some(again) = again.filter(|at| *at > lost && *at < lost + ttl) {
                    let (one, other) = (named(*first, &one.plan), named(*second, &other.plan));
                    found.push(format!(
                        "{one} ended unknown at {lost:?}, and {other} was carried out at {again:?}"
                    ));
                }
            }
        }
    }
    found
}

/// When a client left while a worker had its whole request and had not refused it: nobody knows what came of it.
fn unknown_at(seen: &Seen) -> Option<Duration> {
    let End::Left(at) = seen.response.end else {
        return None;
    };
    let last = seen.flights.last()?;
    let is_under_way = last.given_up && last.ended == Some(at);
    let had_it = |visit: &Visit| {
        address(&visit.worker) == last.address.to_string() && visit.at >= last.began
    };
    let is_refused = !matches!(seen.response.status, 0 | 200);
    (is_under_way && !is_refused && seen.visits.iter().any(had_it)).then_some(at)
}

/// Whether both were at workers at the same time. Of two at one moment, one may have ended before the other began.
fn overlap(one: &Seen, other: &Seen) -> bool {
    let span = |seen: &Seen| {
        let end = match seen.response.end {
            End::Complete(end) | End::Broken(end) | End::Left(end) => end,
            End::Pending => Duration::MAX,
        };
        let from = admitted_at(seen).filter(|_| !seen.attempts.is_empty())?;
        Some((from, end))
    };
    let spans = span(one).zip(span(other));
    spans.is_some_and(|((from, end), (other_from, other_end))| {
        from.max(other_from) < end.min(other_end)
    })
}

pub(super) fn replays(observed: &Observed<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for group in groups(observed) {
        for (place, replay) in group.iter().filter(|(_, seen)| is_replay(seen)) {
            let request = named(*place, &replay.plan);
            if !replay.attempts.is_empty() {
                found.push(format!("{request}: replayed, and tried at a worker"));
            }
            let sent = body(observed.plan, &replay.plan, None);
            let is_original = |(_, other): &(usize, &Seen)| {
                !is_replay(other)
                    && replay.plan.path == other.plan.path
                    && sent == body(observed.plan, &other.plan, None)
                    && is_complete(&other.response)
                    && is_same_answer(replay, other)
            };
            if !group.iter().any(is_original) {
                let text = replay.response.text();
                found.push(format!("{request}: nobody got this answer before: {text}"));
            }
        }
    }
    found
}

fn is_replay(seen: &Seen) -> bool {
    seen.response.header("idempotency-replayed").is_some()
}

/// The same bytes; of a replay that its client left, what came of them.
fn is_same_answer(replay: &Seen, original: &Seen) -> bool {
    let kind = |seen: &Seen| seen.response.header("content-type").map(str::to_owned);
    let (got, kept) = (replay.response.body(), original.response.body());
    let is_same = if is_complete(&replay.response) {
        got == kept
    } else {
        kept.starts_with(&got)
    };
    is_same && replay.response.status == original.response.status && kind(replay) == kind(original)
}
