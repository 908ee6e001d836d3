//! What a value must be like.

use host_sim_envoy::yaml::{At, Fields, Read, Value as Yaml};
use serde_json::Value;

use super::wanted::{Count, Matcher, Range, Test};
use super::{fault, json, units};

/// A value itself, or a map of tests.
pub fn matcher(at: &At<'_>) -> Read<Matcher> {
    let tests = match at.value() {
        Yaml::Map(_) => at.map(tests)?,
        _ => vec![Test::Is(json::json(at)?)],
    };
    if tests.is_empty() {
        return Err(fault(at, "says nothing: name a value, or a test of it"));
    }
    Ok(Matcher {
        line: at.line(),
        tests,
    })
}

fn tests(fields: &mut Fields<'_>) -> Read<Vec<Test>> {
    let mut tests = Vec::new();
    if let Some(at) = fields.optional("is") {
        tests.push(Test::Is(json::json(&at)?));
    }
    if let Some(at) = fields.optional("not") {
        tests.push(Test::Not(json::json(&at)?));
    }
    if let Some(at) = fields.optional("one_of") {
        tests.push(Test::OneOf(at.each(|at| json::json(&at))?));
    }
    type Kind = fn(String) -> Test;
    let kinds: [(&str, Kind); 4] = [
        ("contains", Test::Contains),
        ("lacks", Test::Lacks),
        ("starts_with", Test::StartsWith),
        ("ends_with", Test::EndsWith),
    ];
    for (key, kind) in kinds {
        if let Some(at) = fields.optional(key) {
            tests.extend(texts(&at)?.into_iter().map(kind));
        }
    }
    if let Some(at) = fields.optional("at_least") {
        tests.push(Test::AtLeast(float(&at)?));
    }
    if let Some(at) = fields.optional("at_most") {
        tests.push(Test::AtMost(float(&at)?));
    }
    if let Some(at) = fields.optional("present") {
        tests.push(Test::Present(at.boolean()?));
    }
    Ok(tests)
}

fn float(at: &At<'_>) -> Read<f64> {
    match json::json(at)? {
        Value::Number(number) => Ok(number.as_f64().unwrap_or_default()),
        _ => Err(fault(at, "must be a number")),
    }
}

/// One text or a list of them.
fn texts(at: &At<'_>) -> Read<Vec<String>> {
    match at.value() {
        Yaml::List(_) => at.each(|at| at.text().map(str::to_owned)),
        _ => Ok(vec![at.text()?.to_owned()]),
    }
}

/// Matchers by name.
pub fn matchers(at: &At<'_>) -> Read<Vec<(String, Matcher)>> {
    let entries = at.entries()?.into_iter();
    entries
        .map(|(name, at)| Ok((name.to_owned(), matcher(&at)?)))
        .collect()
}

/// Matchers by name of a header, in lower case.
pub fn headers(at: &At<'_>) -> Read<Vec<(String, Matcher)>> {
    let matchers = matchers(at)?.into_iter();
    Ok(matchers
        .map(|(name, matcher)| (name.to_ascii_lowercase(), matcher))
        .collect())
}

/// A number, or its bounds.
pub fn count(at: &At<'_>) -> Read<Count> {
    let line = at.line();
    let number = |at: At<'_>| at.number(u64::MAX);
    let (least, most) = match at.value() {
        Yaml::Map(_) => at.map(|fields| {
            let bounds = (
                fields.maybe("at_least", number)?,
                fields.maybe("at_most", number)?,
            );
            Ok((bounds.0.unwrap_or(0), bounds.1.unwrap_or(u64::MAX)))
        })?,
        _ => {
            let number = at.number(u64::MAX)?;
            (number, number)
        }
    };
    if least > most || (least, most) == (0, u64::MAX) {
        return Err(fault(
            at,
            "must be a number, or at_least and at_most that some number meets",
        ));
    }
    Ok(Count { line, least, most })
}

/// A number of bytes, or its bounds.
pub fn size(at: &At<'_>) -> Read<Count> {
    match at.value() {
        Yaml::Map(_) => count(at),
        _ => {
            let size = units::size(at)? as u64;
            Ok(Count {
                line: at.line(),
                least: size,
                most: size,
            })
        }
    }
}

/// Counts by name.
pub fn counts(at: &At<'_>) -> Read<Vec<(String, Count)>> {
    let entries = at.entries()?.into_iter();
    entries
        .map(|(name, at)| Ok((name.to_owned(), count(&at)?)))
        .collect()
}

/// A time, or its bounds.
pub fn range(at: &At<'_>) -> Read<Range> {
    let line = at.line();
    let (least, most) = match at.value() {
        Yaml::Map(_) => at.map(|fields| {
            let least = fields.maybe("at_least", |at| units::time(&at))?;
            let most = fields.maybe("at_most", |at| units::time(&at))?;
            Ok((least.unwrap_or_default(), most.unwrap_or(super::MAX_TIME)))
        })?,
        _ => {
            let time = units::time(at)?;
            (time, time)
        }
    };
    if least > most {
        return Err(fault(at, "at_least must not be above at_most"));
    }
    Ok(Range { line, least, most })
}
