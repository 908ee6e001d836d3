//! What came of all repetitions of a request together.

use super::failure;
use crate::play::{Failure, Sent};
use crate::world::World;

/// How many of them had which status, and were served by whom.
pub fn judge(one: &Sent<'_>, world: &World, failures: &mut Vec<Failure>) {
    let name = &one.plan.name;
    let statuses: Vec<u16> = one
        .ids
        .iter()
        .map(|id| world.response(*id).status)
        .collect();
    for (status, count) in &one.plan.expected.statuses {
        let got = statuses.iter().filter(|one| *one == status).count();
        if !count.holds(got) {
            let what = format!("{name}: statuses.{status}");
            let text = format!("{got} of {}: {}", statuses.len(), tally(&statuses));
            failures.push(failure(count.line, what, count.shown(), text));
        }
    }
    let served: Vec<&str> = one
        .ids
        .iter()
        .filter_map(|id| world.attempts(*id).last().copied())
        .collect();
    for (worker, count) in &one.plan.expected.served_by {
        let got = served.iter().filter(|one| *one == worker).count();
        if !count.holds(got) {
            let what = format!("{name}: served_by.{worker}");
            let text = format!("{got} of {}: {}", one.ids.len(), tally(&served));
            failures.push(failure(count.line, what, count.shown(), text));
        }
    }
}

/// How often each value is there, as `200 3 times, 503 once`.
fn tally<T: Ord + std::fmt::Display>(values: &[T]) -> String {
    let mut counts = std::collections::BTreeMap::new();
    for value in values {
        *counts.entry(value).or_insert(0_usize) += 1;
    }
    let parts: Vec<String> = counts
        .iter()
        .map(|(value, count)| format!("{value} x{count}"))
        .collect();
    parts.join(", ")
}
