//! What must hold of the run as a whole.

use mock_worker::Seen;
use serde_json::Value;

use super::body::{compare, header};
use super::matching::{Got, broken as broken_test, short};
use super::{failure, metrics, short_of};
use crate::file::{Scenario, WorkerExpected};
use crate::play::Failure;
use crate::visit::Visit;
use crate::world::World;

/// Lines of a log that a failure shows.
const LINES: usize = 5;

/// Workers, order, logs, metrics; and no worker may find bytes that are no request.
pub fn judge(scenario: &Scenario, world: &World, failures: &mut Vec<Failure>) {
    failures.extend(surplus(world));
    updates(scenario, world, failures);
    for (name, expected) in &scenario.whole.workers {
        let found = worker(name, expected, world).into_iter();
        failures.extend(found.map(|failure| Failure {
            what: format!("workers.{name}.{}", failure.what),
            ..failure
        }));
    }
    if let Some((line, order)) = &scenario.whole.order {
        let visits = world.visits().iter().filter(|visit| visit.client.is_some());
        let got: Vec<&str> = visits.map(|visit| visit.worker.as_str()).collect();
        if got != *order {
            failures.push(failure(*line, "order", order.join(", "), got.join(", ")));
        }
    }
    logs(scenario, world, failures);
    if !scenario.whole.metrics.is_empty() {
        let text = world.prometheus();
        for (name, matcher) in &scenario.whole.metrics {
            let value = metrics::value(&text, name).map(Value::from);
            let what = format!("metrics.{}", name.name);
            failures.extend(compare(&what, matcher, &Got::json(value.as_ref())));
        }
    }
}

/// An update is taken, or refused as was foreseen.
fn updates(scenario: &Scenario, world: &World, failures: &mut Vec<Failure>) {
    let results = world
        .updates()
        .iter()
        .map(Some)
        .chain(std::iter::repeat(None));
    for (update, result) in scenario.updates.iter().zip(results) {
        let got = match result {
            None => Got::Text("never came: the run ended before it".to_owned()),
            Some(Ok(())) => Got::Absent,
            Some(Err(reason)) => Got::Text(reason.clone()),
        };
        match &update.refused {
            Some(matcher) => failures.extend(compare("updates.refused", matcher, &got)),
            None if got != Got::Absent => {
                let wanted = "the configuration is taken";
                failures.push(failure(update.line, "updates", wanted, got.shown()));
            }
            None => {}
        }
    }
}

fn surplus(world: &World) -> Vec<Failure> {
    let recorded = |name: &&str| {
        let mut seen = world.received(name).into_iter();
        seen.find_map(|recorded| match &recorded.seen {
            Seen::Unparsable(bytes) => Some(bytes.clone()),
            _ => None,
        })
    };
    let found = world
        .worker_names()
        .filter_map(|name| Some((name, recorded(&name)?)));
    found
        .map(|(name, bytes)| {
            failure(
                1,
                format!("worker {name}"),
                "nothing behind a request",
                format!(
                    "bytes that a wrong content-length leaves: {}",
                    short_of(&bytes)
                ),
            )
        })
        .collect()
}

fn worker(name: &str, expected: &WorkerExpected, world: &World) -> Vec<Failure> {
    let mut failures = Vec::new();
    let visits = world.visits().iter().filter(|visit| visit.worker == name);
    let (requests, probes): (Vec<&Visit>, Vec<&Visit>) =
        visits.partition(|visit| visit.client.is_some());
    // A worker of an update that was refused never was there.
    let is_there = world.worker_names().any(|known| known == name);
    let received = match is_there {
        true => world.received(name),
        false => Vec::new(),
    };
    let broken = received.into_iter();
    let broken = broken
        .filter(|recorded| matches!(recorded.seen, Seen::Cut(_)))
        .count();
    let mut count = |what: String, wanted: Option<&crate::file::Count>, got: usize| {
        if let Some(wanted) = wanted
            && !wanted.holds(got)
        {
            failures.push(failure(wanted.line, what, wanted.shown(), got));
        }
    };
    count(
        "requests".to_owned(),
        expected.requests.as_ref(),
        requests.len(),
    );
    count("probes".to_owned(), expected.probes.as_ref(), probes.len());
    count("broken".to_owned(), expected.broken.as_ref(), broken);
    for (path, wanted) in &expected.paths {
        let both = requests.iter().chain(&probes);
        let got = both.filter(|visit| visit.request.path() == path).count();
        count(format!("paths.{path}"), Some(wanted), got);
    }
    for (model, wanted) in &expected.models {
        let got = requests
            .iter()
            .filter(|visit| model_of(visit).as_deref() == Some(model));
        count(format!("models.{model}"), Some(wanted), got.count());
    }
    for (header_name, matcher) in &expected.headers {
        let got = requests
            .iter()
            .map(|visit| header(&visit.request.headers, header_name));
        let first = got
            .into_iter()
            .find(|got| broken_test(matcher, got).is_some());
        let what = format!("headers.{header_name}");
        failures.extend(first.and_then(|got| compare(&what, matcher, &got)));
    }
    failures
}

fn model_of(visit: &Visit) -> Option<String> {
    let body: Value = serde_json::from_slice(&visit.request.body).ok()?;
    Some(body.get("model")?.as_str()?.to_owned())
}

fn logs(scenario: &Scenario, world: &World, failures: &mut Vec<Failure>) {
    let lines = world.access_log().iter();
    let parsed: Vec<Value> = lines
        .filter_map(|line| serde_json::from_str(&line.text).ok())
        .collect();
    for (fields, count) in &scenario.whole.access_log {
        let fits = |line: &&Value| {
            fields
                .iter()
                .all(|(name, matcher)| broken_test(matcher, &Got::json(line.get(name))).is_none())
        };
        let got = parsed.iter().filter(fits).count();
        if !count.holds(got) {
            let mut failure = failure(count.line, "access_log", lines_of(&count.shown()), got);
            failure.context = parsed
                .iter()
                .take(LINES)
                .map(|line| short(&line.to_string()))
                .collect();
            failures.push(failure);
        }
    }
    for (level, text, count) in &scenario.whole.log {
        let fits = world.log().iter().filter(|line| {
            line.text.contains(text) && level.as_ref().is_none_or(|level| line.log == *level)
        });
        let got = fits.count();
        if !count.holds(got) {
            let expected = format!("{} with {text:?}", lines_of(&count.shown()));
            let mut failure = failure(count.line, "log", expected, got);
            let last = world.log().iter().rev().take(LINES);
            failure.context = last
                .map(|line| format!("{} {}", line.log, short(&line.text)))
                .collect();
            failures.push(failure);
        }
    }
}

fn lines_of(count: &str) -> String {
    format!("{count} such lines")
}
