//! Errors: `filters/core/contract/src/errors.rs` is the one table.

use dragoman_contract::Code;
use serde_json::Value;

use super::{code, is_complete, is_of_worker, named};
use crate::stage::{Observed, Seen};

pub(super) fn errors(observed: &Observed<'_>) -> Vec<String> {
    let seen = observed.seen.iter().enumerate();
    let wrong = seen.filter_map(|(place, one)| {
        let response = &one.response;
        let is_replay = response.header("idempotency-replayed").is_some();
        if response.status < 400 || !is_complete(response) || is_of_worker(response) || is_replay {
            return None;
        }
        let reason = wrong_error(one)?;
        let text = response.text();
        Some(format!(
            "{}: {reason}: {} {text}",
            named(place, &one.plan),
            response.status
        ))
    });
    wrong.collect()
}

fn wrong_error(seen: &Seen) -> Option<String> {
    let response = &seen.response;
    let Some(text) = code(response) else {
        return Some("no error object with a code".to_owned());
    };
    let Some(code) = Code::ALL.iter().find(|code| code.as_str() == text) else {
        return Some(format!("the code {text} is not in the table"));
    };
    if code.status() != response.status {
        return Some(format!("{text} has the status {}", code.status()));
    }
    if code.retry_after_s().is_some() && response.header("retry-after").is_none() {
        return Some(format!("{text} without retry-after"));
    }
    let body: Value = serde_json::from_slice(&response.body()).unwrap_or_default();
    let is_anthropic = body.get("type").and_then(Value::as_str) == Some("error");
    if is_anthropic != seen.plan.path.starts_with("/v1/messages") {
        return Some("in the shape of the other API".to_owned());
    }
    let holder = if is_anthropic {
        Some(&body)
    } else {
        body.get("error")
    };
    let id = holder.and_then(|holder| holder.get("request_id")?.as_str());
    (id != response.header("x-request-id"))
        .then(|| "another request id than in the header".to_owned())
}

/// Such an answer means that filters disagree or a host call failed: no request and no worker can bring it about.
pub(super) fn no_fault(observed: &Observed<'_>) -> Vec<String> {
    let seen = observed.seen.iter().enumerate();
    let seen = seen.filter(|(_, one)| !is_of_worker(&one.response));
    let faults = seen.filter_map(|(place, one)| {
        let code = code(&one.response)?;
        let is_fault = ["misconfigured", "internal_error"].contains(&code.as_str());
        is_fault.then(|| format!("{}: {code}", named(place, &one.plan)))
    });
    let mut found: Vec<String> = faults.collect();
    let traps = observed
        .plan
        .requests
        .iter()
        .any(|request| request.trap.is_some());
    let log = observed
        .log
        .iter()
        .filter(|(_, level, _)| level == "critical" && !traps);
    found.extend(log.map(|(at, _, text)| format!("log at {at:?}: {text}")));
    found
}
