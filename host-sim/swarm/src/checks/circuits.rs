//! `filters/core/circuit/README.md`: while a circuit is open, no new request goes to its worker.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{admitted_at, named};
use crate::stage::Observed;

/// `select` reads circuits at most this often.
const VIEW: Duration = Duration::from_millis(100);

pub(super) fn kept_away(observed: &Observed<'_>) -> Vec<String> {
    let Some(circuit) = &observed.plan.topology.circuit else {
        return Vec::new();
    };
    let cooldown = Duration::from_secs(circuit.cooldown_s);
    let mut found = Vec::new();
    for (worker, opened) in opened(observed) {
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

/// When circuits opened, by worker, as `attempt` logs it.
fn opened(observed: &Observed<'_>) -> BTreeMap<String, Vec<Duration>> {
    let mut opened: BTreeMap<String, Vec<Duration>> = BTreeMap::new();
    for (at, _, text) in &observed.log {
        let Some((before, _)) = text.split_once(": circuit open") else {
            continue;
        };
        if let Some((_, worker)) = before.rsplit_once("worker ") {
            opened.entry(worker.to_owned()).or_default().push(*at);
        }
    }
    opened
}
