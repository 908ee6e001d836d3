//! Compares what came of a run with what should have.

mod body;
mod matching;
mod metrics;
mod response;
mod times;
mod together;
mod whole;

use std::fmt::Display;

use crate::file::{Gateway, Scenario, show_time};
use crate::play::{Failure, Sent};
use crate::world::World;

/// Most failures of one run that are told: the first ones say why.
pub const MAX_FAILURES: usize = 20;

/// Everything that is wrong with a run, up to [`MAX_FAILURES`].
pub fn judge(scenario: &Scenario, world: &World, sent: &[Sent<'_>]) -> Vec<Failure> {
    let mut failures = Vec::new();
    for one in sent {
        response::judge(one, sent, world, &mut failures);
    }
    whole::judge(scenario, world, &mut failures);
    failures.truncate(MAX_FAILURES);
    failures
}

/// Refuses names of workers that the deployment does not have.
pub fn known(scenario: &Scenario, world: &World) -> Result<(), Failure> {
    let plans = scenario.workers.iter();
    let mut names: Vec<(usize, &str)> = plans.map(|(name, plan)| (plan.line, &**name)).collect();
    for plan in &scenario.requests {
        let expected = &plan.expected;
        let attempts = expected.attempts.iter();
        names.extend(attempts.flat_map(|(line, list)| list.iter().map(|name| (*line, &**name))));
        let served = expected.served_by.iter();
        names.extend(served.map(|(name, count)| (count.line, &**name)));
    }
    let workers = scenario.whole.workers.iter();
    names.extend(workers.map(|(name, expected)| (expected.line, &**name)));
    if let Some((line, order)) = &scenario.whole.order {
        names.extend(order.iter().map(|name| (*line, &**name)));
    }
    let there: Vec<&str> = world.worker_names().collect();
    let later = new_workers(scenario);
    let is_there = |name: &str| there.contains(&name);
    let plans = scenario.workers.len();
    let missing = names.iter().enumerate().find(|(index, (_, name))| {
        // Who is to behave in some way is there from the start; others may come with an update.
        !is_there(name) && (*index < plans || !later.iter().any(|new| new == name))
    });
    let missing = missing.map(|(_, place)| place);
    missing.map_or(Ok(()), |(line, name)| {
        Err(failure(
            *line,
            format!("worker {name}"),
            format!("one of {}", there.join(", ")),
            "the gateway has no worker of that name",
        ))
    })
}

/// Ids of the workers of all updates that are written in the scenario.
fn new_workers(scenario: &Scenario) -> Vec<String> {
    let documents = scenario
        .updates
        .iter()
        .filter_map(|update| match &update.gateway {
            Gateway::Inline(json) => Some(crate::world::worker_names(json)),
            Gateway::Json(_) | Gateway::Envoy(_) => None,
        });
    documents.flat_map(|names| names.into_values()).collect()
}

/// A failure without context.
fn failure(
    line: usize,
    what: impl Into<String>,
    expected: impl Into<String>,
    got: impl Display,
) -> Failure {
    Failure {
        line,
        what: what.into(),
        expected: expected.into(),
        got: got.to_string(),
        context: Vec::new(),
    }
}

/// The beginning of a body.
fn short_of(body: &[u8]) -> String {
    matching::short(&String::from_utf8_lossy(body))
}

/// Items between brackets.
fn list<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    format!("[{}]", items.join(", "))
}

/// Bounds as they are read: `3`, `3 to 5`, `at least 3`.
fn bounds<T: PartialEq + Copy>(least: T, most: T, top: T, show: impl Fn(T) -> String) -> String {
    if least == most {
        show(least)
    } else if most == top {
        format!("at least {}", show(least))
    } else {
        format!("{} to {}", show(least), show(most))
    }
}

impl crate::file::Count {
    fn holds(&self, number: usize) -> bool {
        (self.least..=self.most).contains(&(number as u64))
    }

    fn shown(&self) -> String {
        bounds(self.least, self.most, u64::MAX, |number| number.to_string())
    }
}

impl crate::file::Range {
    fn holds(&self, time: std::time::Duration) -> bool {
        (self.least..=self.most).contains(&time)
    }

    fn shown(&self) -> String {
        bounds(self.least, self.most, crate::file::MAX_TIME, show_time)
    }
}
