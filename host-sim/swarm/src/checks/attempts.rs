//! `filters/select/README.md` and `filters/core/config/README.md`: who is tried, and how often.

use super::named;
use crate::plan::EndpointPlan;
use crate::stage::{Observed, Seen};

pub(super) fn bounded(observed: &Observed<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let tried = observed.seen.iter().enumerate();
    for (place, seen) in tried.filter(|(_, seen)| !seen.attempts.is_empty()) {
        let mut endpoints = observed.plan.topology.endpoints.iter();
        let endpoint = endpoints.find(|endpoint| endpoint.slug == seen.plan.model);
        let reason = match endpoint {
            None => Some("a worker for a model that nobody configured".to_owned()),
            Some(endpoint) => wrong(endpoint, seen),
        };
        let tried = seen.attempts.join(", ");
        found.extend(
            reason.map(|reason| format!("{}: {reason}: {tried}", named(place, &seen.plan))),
        );
    }
    found
}

fn wrong(endpoint: &EndpointPlan, seen: &Seen) -> Option<String> {
    let most = endpoint.max_attempts;
    if seen.attempts.len() > most {
        return Some(format!(
            "{} attempts, at most {most} are allowed",
            seen.attempts.len()
        ));
    }
    let mut tried = seen.attempts.clone();
    tried.sort_unstable();
    tried.dedup();
    if tried.len() != seen.attempts.len() {
        return Some("a worker was tried twice".to_owned());
    }
    let is_target = |id: &String| {
        let target = endpoint.targets.iter().find(|target| target.worker == *id);
        let counts = endpoint.mode == "weighted";
        target.is_some_and(|target| target.enabled && (!counts || target.weight > 0))
    };
    let stranger = seen.attempts.iter().find(|id| !is_target(id))?;
    Some(format!("{stranger} is no target that is used"))
}
