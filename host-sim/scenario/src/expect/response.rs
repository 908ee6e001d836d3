//! What came of the requests of one plan.

use std::time::Duration;

use serde_json::Value;

use super::body::{self, Message, Wanted, compare};
use super::matching::{Got, short};
use super::{failure, list, short_of, times, together};
use crate::client::{End, RequestId, Response};
use crate::file::{Ending, Expected, RequestPlan, show_time};
use crate::play::{Failure, Sent};
use crate::world::World;

/// Most repetitions of one plan whose failures are told.
const MAX_TOLD: usize = 3;

/// Each response, then all of them together.
pub fn judge(one: &Sent<'_>, all: &[Sent<'_>], world: &World, failures: &mut Vec<Failure>) {
    let mut told = 0;
    for (index, id) in one.ids.iter().enumerate() {
        let found = each(one.plan, *id, all, world);
        if found.is_empty() {
            continue;
        }
        told += 1;
        if told > MAX_TOLD {
            break;
        }
        let name = match one.ids.len() {
            1 => one.plan.name.clone(),
            times => format!("{} ({} of {times})", one.plan.name, index + 1),
        };
        let context = context(*id, world);
        failures.extend(found.into_iter().map(|failure| Failure {
            what: format!("{name}: {}", failure.what),
            context: context.clone(),
            ..failure
        }));
    }
    together::judge(one, world, failures);
}

fn each(plan: &RequestPlan, id: RequestId, all: &[Sent<'_>], world: &World) -> Vec<Failure> {
    let expected = &plan.expected;
    let response = world.response(id);
    let mut failures = Vec::new();
    failures.extend(ended(plan, response));
    if let Some(matcher) = &expected.status {
        let status = (response.status != 0).then(|| response.status.to_string());
        failures.extend(compare("status", matcher, &Got::text(status)));
    }
    let wanted = Wanted {
        headers: &expected.headers,
        json: &expected.json,
        text: expected.text.as_ref(),
        body_bytes: expected.body_bytes.as_ref(),
    };
    let content = response.body();
    let message = Message {
        headers: &response.headers,
        body: &content,
        body_bytes: content.len(),
    };
    failures.extend(body::judge(&wanted, &message));
    failures.extend(same_body(expected, &content, all, world));
    failures.extend(times::judge(expected, response, world.sent(id)));
    if let Some((line, attempts)) = &expected.attempts {
        let got = world.attempts(id);
        if got != *attempts {
            failures.push(failure(*line, "attempts", list(attempts), list(&got)));
        }
    }
    failures.extend(upstream(expected, id, world));
    failures.extend(log(expected, id, world));
    failures
}

/// Without a word of the scenario a response is complete, or its client left as planned.
fn ended(plan: &RequestPlan, response: &Response) -> Option<Failure> {
    let (line, expected) = match plan.expected.ended {
        Some((line, ending)) => (line, vec![ending]),
        None if plan.leaves.is_some() => (plan.line, vec![Ending::Complete, Ending::Left]),
        None => (plan.line, vec![Ending::Complete]),
    };
    let (got, text) = match response.end {
        End::Pending => (Ending::Never, "never: the client still waits".to_owned()),
        End::Complete(at) => (Ending::Complete, format!("complete at {}", show_time(at))),
        End::Broken(at) => (Ending::Broken, format!("broken off at {}", show_time(at))),
        End::Left(at) => (
            Ending::Left,
            format!("the client left at {}", show_time(at)),
        ),
    };
    let name = |ending: &Ending| match ending {
        Ending::Complete => "complete",
        Ending::Broken => "broken",
        Ending::Left => "left",
        Ending::Never => "never",
    };
    let names: Vec<&str> = expected.iter().map(name).collect();
    (!expected.contains(&got)).then(|| failure(line, "ended", names.join(" or "), text))
}

fn same_body(expected: &Expected, body: &[u8], all: &[Sent<'_>], world: &World) -> Option<Failure> {
    let (line, name) = expected.same_body_as.as_ref()?;
    let other = all.iter().find(|sent| sent.plan.name == *name)?;
    let other = world.response(*other.ids.first()?).body();
    let what = format!("the body of {name}");
    (other != body).then(|| failure(*line, what, short_of(&other), short_of(body)))
}

fn upstream(expected: &Expected, id: RequestId, world: &World) -> Vec<Failure> {
    let Some(upstream) = &expected.upstream else {
        return Vec::new();
    };
    let mut visits = world.visits().iter().rev();
    let Some(visit) = visits.find(|visit| visit.client == Some(id)) else {
        let got = "it arrived at none";
        return vec![failure(
            0,
            "upstream",
            "a worker that gets the request",
            got,
        )];
    };
    let wanted = Wanted {
        headers: &upstream.headers,
        json: &upstream.json,
        text: upstream.text.as_ref(),
        body_bytes: upstream.body_bytes.as_ref(),
    };
    let message = Message {
        headers: &visit.request.headers,
        body: &visit.request.body,
        body_bytes: visit.body_bytes,
    };
    let mut failures = body::judge(&wanted, &message);
    if let Some(matcher) = &upstream.path {
        let got = Got::Text(visit.request.target.clone());
        failures.extend(compare("path", matcher, &got));
    }
    for failure in &mut failures {
        failure.what = format!("upstream.{} (at {})", failure.what, visit.worker);
    }
    failures
}

/// Its line in the access log: the last one, which is that of the request.
fn log(expected: &Expected, id: RequestId, world: &World) -> Vec<Failure> {
    let Some((_, first)) = expected.log.first() else {
        return Vec::new();
    };
    let lines = world.access_log().iter().rev();
    let mut lines = lines.filter(|line| line.request == Some(id));
    let line = lines.find_map(|line| {
        let fields: Value = serde_json::from_str(&line.text).ok()?;
        (fields.get("log").is_none_or(|kind| kind == "request")).then_some(fields)
    });
    let Some(fields) = line else {
        return vec![failure(
            first.line,
            "log",
            "a line in the access log",
            "none",
        )];
    };
    let compare = |(name, matcher)| {
        compare(
            &format!("log.{name}"),
            matcher,
            &Got::json(fields.get(name)),
        )
    };
    expected
        .log
        .iter()
        .map(|(n, m)| (n, m))
        .filter_map(compare)
        .collect()
}

/// What is known of a request, to read after a failure.
fn context(id: RequestId, world: &World) -> Vec<String> {
    let response = world.response(id);
    let time = |at: Option<Duration>| at.map_or("never".to_owned(), show_time);
    let mut lines = vec![format!(
        "sent {}, head {} with status {}, tried {}",
        time(world.sent(id)),
        time(response.started),
        response.status,
        list(&world.attempts(id)),
    )];
    let of_it = world
        .access_log()
        .iter()
        .filter(|line| line.request == Some(id));
    lines.extend(of_it.map(|line| format!("log: {}", line.text)));
    if !response.pieces.is_empty() {
        lines.push(format!("body: {}", short(&response.text())));
    }
    lines
}
