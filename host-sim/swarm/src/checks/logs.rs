//! The access log: one line for each request, with what its client saw.

use host_sim_scenario::End;
use serde_json::Value;

use super::named;
use crate::stage::{Observed, Seen};

pub(super) fn one_line(observed: &Observed<'_>) -> Vec<String> {
    let seen = observed.seen.iter().enumerate();
    let wrong = seen.filter_map(|(place, one)| {
        let reason = wrong_lines(one)?;
        Some(format!("{}: {reason}", named(place, &one.plan)))
    });
    wrong.collect()
}

fn wrong_lines(seen: &Seen) -> Option<String> {
    if seen.response.end == End::Pending || seen.sent.is_none() {
        return None;
    }
    let [line] = seen.lines.as_slice() else {
        return Some(format!("{} lines", seen.lines.len()));
    };
    let logged = line.get("code").and_then(Value::as_u64);
    let status = u64::from(seen.response.status);
    if status != 0 && logged != Some(status) {
        return Some(format!("the client saw {status}, the log says {logged:?}"));
    }
    let id = line.get("request_id").and_then(Value::as_str);
    if status != 0 && id != seen.response.header("x-request-id") {
        return Some(format!("the log has the request id {id:?}"));
    }
    let tried = line
        .get("attempts")
        .and_then(Value::as_u64)
        .unwrap_or_default();
    let attempts = seen.attempts.len() as u64;
    (tried < attempts).then(|| format!("{attempts} attempts, the log says {tried}"))
}
