//! Parts of a message: headers, body as text and as JSON.

use host_sim_host::io::Headers;
use serde_json::Value;

use super::matching::{Got, broken, shown};
use super::{failure, short_of};
use crate::file::{Count, Matcher};
use crate::play::Failure;

/// A message that arrived.
pub struct Message<'a> {
    pub headers: &'a Headers,
    pub body: &'a [u8],
    pub body_bytes: usize,
}

/// What it must be like.
pub struct Wanted<'a> {
    pub headers: &'a [(String, Matcher)],
    pub json: &'a [(String, Matcher)],
    pub text: Option<&'a Matcher>,
    pub body_bytes: Option<&'a Count>,
}

/// All that is wrong with a message.
pub fn judge(wanted: &Wanted<'_>, message: &Message<'_>) -> Vec<Failure> {
    let mut failures = Vec::new();
    for (name, matcher) in wanted.headers {
        let got = header(message.headers, name);
        failures.extend(compare(&format!("headers.{name}"), matcher, &got));
    }
    if !wanted.json.is_empty() {
        json(wanted.json, message.body, &mut failures);
    }
    if let Some(matcher) = wanted.text {
        let text = String::from_utf8_lossy(message.body).into_owned();
        failures.extend(compare("text", matcher, &Got::Text(text)));
    }
    if let Some(count) = wanted.body_bytes
        && !count.holds(message.body_bytes)
    {
        let line = count.line;
        failures.push(failure(
            line,
            "body_bytes",
            count.shown(),
            message.body_bytes,
        ));
    }
    failures
}

fn json(wanted: &[(String, Matcher)], body: &[u8], failures: &mut Vec<Failure>) {
    let parsed: Result<Value, _> = serde_json::from_slice(body);
    let document = match parsed {
        Ok(document) => document,
        Err(error) => {
            let line = wanted.first().map_or(1, |(_, matcher)| matcher.line);
            let got = format!("{error}: {}", short_of(body));
            return failures.push(failure(line, "json", "a JSON document", got));
        }
    };
    for (path, matcher) in wanted {
        let got = Got::json(inside(&document, path));
        failures.extend(compare(&format!("json.{path}"), matcher, &got));
    }
}

/// The value at a path like `choices.0.message` or `choices[0].message`.
pub fn inside<'a>(document: &'a Value, path: &str) -> Option<&'a Value> {
    let path = path.replace('[', ".").replace(']', "");
    let mut steps = path.split('.').filter(|step| !step.is_empty());
    steps.try_fold(document, |value, step| match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        value => value.get(step),
    })
}

/// All lines of a header, joined as Envoy joins them.
pub fn header(headers: &Headers, name: &str) -> Got {
    let lines = headers.iter();
    let lines = lines.filter(|(known, _)| known.eq_ignore_ascii_case(name.as_bytes()));
    let lines: Vec<_> = lines
        .map(|(_, value)| String::from_utf8_lossy(value).into_owned())
        .collect();
    Got::text((!lines.is_empty()).then(|| lines.join(", ")))
}

/// The failure of one value.
pub fn compare(what: &str, matcher: &Matcher, got: &Got) -> Option<Failure> {
    let test = broken(matcher, got)?;
    Some(failure(matcher.line, what, shown(test), got.shown()))
}
