//! `filters/select/README.md`: a worker that has `max_in_flight` requests gets no more; one for each other thread may be missing
//! from the sum.

use crate::gateway::address;
use crate::stage::Observed;

/// Looked at whenever an attempt begins, so at every moment at which the number grows. Later attempts of a request go
/// down the list that was made when it came.
pub(super) fn kept(observed: &Observed<'_>) -> Vec<String> {
    // What a VM that traps had in flight is forgotten, while workers are still at it.
    let mut requests = observed.plan.requests.iter();
    if requests.any(|request| request.trap.is_some()) {
        return Vec::new();
    }
    let unseen = observed.plan.threads.max(1) as u64 - 1;
    let mut found = Vec::new();
    for worker in &observed.plan.topology.workers {
        let Some(cap) = worker.max_in_flight else {
            continue;
        };
        let address = address(&worker.id);
        let mut flights = observed.flights.iter();
        let first = flights.find(|flight| {
            let is_its = flight.is_first && flight.address.to_string() == address;
            is_its && flight.beside as u64 >= cap + unseen
        });
        if let Some(flight) = first {
            found.push(format!(
                "{}: {} attempts were under way when one more began at {:?}; the cap is {cap}, on {} threads",
                worker.id, flight.beside, flight.began, observed.plan.threads
            ));
        }
    }
    found
}
