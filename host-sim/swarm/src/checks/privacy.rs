//! Credentials, internal headers, and whose answer is whose.

use dragoman_contract::names::{CLIENT_CREDENTIALS, CLUSTER, is_internal, is_reserved};
use host_sim_scenario::Visit;

use super::named;
use crate::body::tag;
use crate::gateway::worker_secret;
use crate::plan::{Plan, WorkerPlan};
use crate::stage::Observed;

/// What every secret of a client begins with.
const CLIENT_SECRET: &str = "sk-client-";
/// What every secret of a worker begins with.
const WORKER_SECRET: &str = "sk-worker-";

fn has_secret(text: &str) -> bool {
    text.contains(CLIENT_SECRET) || text.contains(WORKER_SECRET)
}

/// `filters/attempt/README.md`, 1 to 3.
pub(super) fn credentials(observed: &Observed<'_>) -> Vec<String> {
    let visits = observed.visits.iter();
    let wrong = visits.filter_map(|visit| {
        let worker = worker(observed.plan, &visit.worker)?;
        let reason = wrong_credential(worker, visit)?;
        Some(format!("{} at {:?}: {reason}", visit.worker, visit.at))
    });
    wrong.collect()
}

fn wrong_credential(worker: &WorkerPlan, visit: &Visit) -> Option<String> {
    let own = worker_secret(&worker.id);
    let expected = worker
        .credential
        .iter()
        .map(|header| match header.as_str() {
            "authorization" => (header.clone(), format!("Bearer {own}")),
            _ => (header.clone(), own.clone()),
        });
    let expected: Vec<(String, String)> = expected.collect();
    let lines = visit.request.headers.iter();
    let lines = lines.map(|(name, value)| {
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        (name, String::from_utf8_lossy(value).into_owned())
    });
    let carries = |(name, value): &(String, String)| {
        CLIENT_CREDENTIALS.contains(&name.as_str()) || has_secret(value)
    };
    let carrying: Vec<(String, String)> = lines.filter(carries).collect();
    if carrying != expected {
        return Some(format!("has {carrying:?}, should have {expected:?}"));
    }
    has_secret(&String::from_utf8_lossy(&visit.request.body))
        .then(|| "a secret in the body".to_owned())
}

/// `filters/attempt/README.md`, 1: all but the cluster's name, which Envoy reads for the next attempt.
pub(super) fn at_workers(observed: &Observed<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for visit in &observed.visits {
        for (name, value) in &visit.request.headers {
            let name = name.to_ascii_lowercase();
            let is_hidden = is_internal(&name) && name != CLUSTER.as_bytes();
            if is_hidden || name == b"accept-encoding" || name == b"x-envoy-max-retries" {
                let shown = String::from_utf8_lossy(&name).into_owned();
                let value = String::from_utf8_lossy(value);
                found.push(format!(
                    "{} at {:?} got {shown}: {value}",
                    visit.worker, visit.at
                ));
            }
        }
    }
    found
}

/// `filters/attempt/README.md`, 4.
pub(super) fn at_clients(observed: &Observed<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for (place, seen) in observed.seen.iter().enumerate() {
        for (name, value) in &seen.response.headers {
            let value = String::from_utf8_lossy(value);
            if is_reserved(name) || has_secret(&value) {
                let name = String::from_utf8_lossy(name);
                found.push(format!("{} got {name}: {value}", named(place, &seen.plan)));
            }
        }
        if has_secret(&seen.response.text()) {
            found.push(format!(
                "{}: a secret in the answer",
                named(place, &seen.plan)
            ));
        }
    }
    found
}

/// The worker repeats the tag of the request it answers: a client sees none but its own.
pub(super) fn tags(observed: &Observed<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for (place, seen) in observed.seen.iter().enumerate() {
        let (own, text) = (tag(observed.plan, &seen.plan), seen.response.text());
        for rest in text.split("<tag ").skip(1) {
            let rest = rest.split_inclusive('>').next().unwrap_or_default();
            let whole = format!("<tag {rest}");
            // An answer that breaks off may break off inside the tag.
            let is_cut = !whole.ends_with('>') && own.starts_with(&whole);
            if whole != own && !is_cut {
                found.push(format!("{} got {whole}", named(place, &seen.plan)));
            }
        }
    }
    found
}

fn worker<'a>(plan: &'a Plan, id: &str) -> Option<&'a WorkerPlan> {
    plan.topology.workers.iter().find(|worker| worker.id == id)
}
