//! `filters/core/circuit/README.md`: while a circuit is open, no new request goes to its worker.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{admitted_at, named};
use crate::flights::Flight;
use crate::gateway::address;
use crate::stage::Observed;

/// `select` reads circuits at most this often.
const VIEW: Duration = Duration::from_millis(100);

pub(super) fn kept_away(observed: &Observed<'_>) -> Vec<String> {
    let Some(circuit) = &observed.plan.topology.circuit else {
        return Vec::new();
    };
    let cooldown = Duration::from_secs(circuit.cooldown_s);
    let mut found = Vec::new();
    for (worker, opened) in told(observed, "open") {
        for (place, seen) in observed.seen.iter().enumerate() {
            let Some(planned) = admitted_at(seen).filter(|_| seen.attempts.contains(&worker))
            else {
                continue;
            };
            let is_inside =
                |from: &&Duration| planned > **from + VIEW && planned < **from + cooldown;
            if let Some(from) = opened.iter().find(is_inside) {
                let request = named(place, &seen.plan);
                found.push(format!(
                    "{request}: at {worker}, whose circuit opened at {from:?} for {cooldown:?}"
                ));
            }
        }
    }
    found
}

/// `filters/core/circuit/README.md`: one trial at a time, on all threads, until it ends or its lease is over. So between the
/// opening of a circuit and its closing no two requests that came in between are at the worker at the same time.
pub(super) fn one_trial(observed: &Observed<'_>) -> Vec<String> {
    let topology = &observed.plan.topology;
    let Some(circuit) = &topology.circuit else {
        return Vec::new();
    };
    // The lease of a trial goes by its endpoint; the shortest one holds for all.
    let timeouts = topology.endpoints.iter().map(|one| one.timeout_ms);
    let lease = Duration::from_secs(circuit.cooldown_s)
        + Duration::from_millis(timeouts.min().unwrap_or_default());
    let closed = told(observed, "closed");
    let mut found = Vec::new();
    for (worker, opened) in told(observed, "open") {
        let address = address(&worker);
        for from in opened {
            let mut closings = closed.get(&worker).into_iter().flatten().copied();
            let until = closings.find(|at| *at >= from).unwrap_or(Duration::MAX);
            let is_trial = |flight: &&Flight| {
                let is_its = flight.address.to_string() == address;
                is_its && flight.admitted > from + VIEW && flight.began < until
            };
            let trials: Vec<&Flight> = observed.flights.iter().filter(is_trial).collect();
            for (one, next) in trials.iter().zip(trials.iter().skip(1)) {
                let is_over = one.ended.is_some_and(|ended| ended <= next.began);
                if !is_over && next.admitted < one.admitted + lease {
                    found.push(format!(
                        "{worker}: trials of {:?} and {:?} at the same time; its circuit opened at {from:?}",
                        one.began, next.began
                    ));
                }
            }
        }
    }
    found
}

/// When circuits opened or closed, by worker, as `attempt` logs it.
fn told(observed: &Observed<'_>, word: &str) -> BTreeMap<String, Vec<Duration>> {
    let mut told: BTreeMap<String, Vec<Duration>> = BTreeMap::new();
    for (at, _, text) in &observed.log {
        let Some((before, _)) = text.split_once(&format!(": circuit {word}")) else {
            continue;
        };
        if let Some((_, worker)) = before.rsplit_once("worker ") {
            told.entry(worker.to_owned()).or_default().push(*at);
        }
    }
    told
}
