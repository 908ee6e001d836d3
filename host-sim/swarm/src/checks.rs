//! What must hold in every run, told from what clients, workers and logs show. Nothing here asks the filters, and each
//! check names the promise it goes by.

mod answers;
mod attempts;
mod bodies;
mod caps;
mod circuits;
mod endings;
mod idempotency;
mod limits;
mod logs;
mod privacy;
mod recovery;
mod refusals;

use std::time::Duration;

use host_sim_scenario::{End, Response};
use serde_json::Value;

use crate::plan::RequestPlan;
use crate::stage::{Observed, Seen};

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Name of the promise.
    pub invariant: &'static str,
    /// What was seen.
    pub what: String,
}

/// Looks at a run, and says where it broke a promise.
type Check = fn(&Observed<'_>) -> Vec<String>;

/// Every promise with its check.
const CHECKS: [(&str, Check); 22] = [
    ("every client gets one ending", endings::one),
    ("a whole answer has the length it promised", endings::length),
    (
        "a worker gets its own credential and nobody else's",
        privacy::credentials,
    ),
    ("no internal header reaches a worker", privacy::at_workers),
    (
        "no internal header or secret reaches a client",
        privacy::at_clients,
    ),
    ("nobody gets another's answer", privacy::tags),
    (
        "what is refused is refused as documented",
        refusals::expected,
    ),
    ("what is refused reaches no worker", refusals::no_visit),
    ("limits are never exceeded", limits::never_exceeded),
    (
        "nobody is limited before a bucket is empty",
        limits::not_too_early,
    ),
    ("a key is carried out once", idempotency::once),
    (
        "a key with an unknown end is held where that is promised",
        idempotency::held,
    ),
    ("a replay is the answer byte for byte", idempotency::replays),
    (
        "attempts go to targets, each once, no more than allowed",
        attempts::bounded,
    ),
    (
        "a worker gets the client's body with its own model name",
        bodies::unchanged,
    ),
    ("an open circuit keeps requests away", circuits::kept_away),
    ("a circuit has one trial at a time", circuits::one_trial),
    ("a cap is kept at every moment", caps::kept),
    (
        "an error has its documented shape and a known code",
        answers::errors,
    ),
    ("the gateway has no fault of its own", answers::no_fault),
    (
        "the access log has one line for each request",
        logs::one_line,
    ),
    (
        "after all faults everything works again",
        recovery::all_served,
    ),
];

/// All promises that this run broke, in the order of the table.
#[must_use]
pub fn check(observed: &Observed<'_>) -> Vec<Violation> {
    let checks = CHECKS.iter();
    let found = checks.flat_map(|(invariant, check)| {
        let broken = check(observed).into_iter();
        broken.map(|what| Violation { invariant, what })
    });
    found.collect()
}

/// Names of all promises.
pub fn invariants() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|(name, _)| *name)
}

/// The code of an error of the gateway's.
fn code(response: &Response) -> Option<String> {
    let body: Value = serde_json::from_slice(&response.body()).ok()?;
    Some(body.get("error")?.get("code")?.as_str()?.to_owned())
}

/// Whether a worker gave the answer: `attempt` names it.
fn is_of_worker(response: &Response) -> bool {
    response.header("x-aisuite-backend").is_some()
}

/// When the filters had the whole request: its head is sent, then each piece after a pause.
fn admitted_at(seen: &Seen) -> Option<Duration> {
    let pieces = u32::try_from(seen.plan.cuts.len() + 1).unwrap_or(u32::MAX);
    let pause = Duration::from_millis(seen.plan.pause_ms);
    let pieces = if seen.plan.path.starts_with("GET ") {
        0
    } else {
        pieces
    };
    seen.sent.map(|sent| sent + pause * pieces)
}

fn is_complete(response: &Response) -> bool {
    matches!(response.end, End::Complete(_))
}

/// A request in a sentence.
fn named(place: usize, plan: &RequestPlan) -> String {
    format!(
        "request {place} ({} {} for {} at {} ms)",
        plan.path, plan.prompt, plan.model, plan.at_ms
    )
}
