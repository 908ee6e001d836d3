//! The small parts at the top of a scenario.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use host_sim_envoy::yaml::{At, Fields, Read, Value as Yaml};
use serde_json::{Value, json};

use super::gateway::{gateway, key_digest};
use super::matchers::matcher;
use super::model::{Edit, Gateway, Update};
use super::{MAX_SEEDS, MAX_THREADS, fault, json, units};
use crate::world::WALL_START;

/// API keys by name: each becomes one of the gateway's `auth.keys`.
pub type Keys = BTreeMap<String, Value>;

/// `keys`
pub fn keys(fields: &mut Fields<'_>) -> Read<Keys> {
    let Some(at) = fields.optional("keys") else {
        return Ok(Keys::new());
    };
    let key = |(name, at): (&str, At<'_>)| {
        let Value::Object(mut key) = json::json(&at)? else {
            return Err(fault(&at, "must be a map like {tenant: acme, app: chat}"));
        };
        for field in ["id", "sha256"] {
            if key.contains_key(field) {
                return Err(fault(&at, format!("{field}: the scenario makes it")));
            }
        }
        key.insert("id".to_owned(), json!(name));
        key.insert("sha256".to_owned(), json!(key_digest(name)));
        Ok((name.to_owned(), Value::Object(key)))
    };
    at.entries()?.into_iter().map(key).collect()
}

/// `threads`
pub fn threads(fields: &mut Fields<'_>) -> Read<usize> {
    let threads = fields.maybe("threads", |at| match at.number(MAX_THREADS as u64)? {
        0 => Err(fault(&at, "0: must be at least 1")),
        threads => Ok(threads as usize),
    })?;
    Ok(threads.unwrap_or(1))
}

/// `seed` and `seeds`
pub fn seeds(fields: &mut Fields<'_>) -> Read<Range<u64>> {
    // Leaves room for the number of seeds behind the first.
    let first = fields.maybe("seed", |at| at.number(u64::MAX - MAX_SEEDS))?;
    let first = first.unwrap_or(1);
    let count = fields.maybe("seeds", |at| match at.number(MAX_SEEDS)? {
        0 => Err(fault(&at, "0: must be at least 1")),
        count => Ok(count),
    })?;
    Ok(first..first + count.unwrap_or(1))
}

/// `environment`
pub fn environment(fields: &mut Fields<'_>) -> Read<BTreeMap<String, String>> {
    let Some(at) = fields.optional("environment") else {
        return Ok(BTreeMap::new());
    };
    let entries = at.entries()?.into_iter();
    entries
        .map(|(name, at)| Ok((name.to_owned(), at.text()?.to_owned())))
        .collect()
}

/// `edit[]`
pub fn edit(at: &At<'_>) -> Read<Edit> {
    at.map(|fields| {
        let replace = fields.required("replace")?.text()?.to_owned();
        if replace.is_empty() {
            return Err(fault(at, "replace: must not be empty"));
        }
        Ok(Edit {
            line: at.line(),
            replace,
            with: fields.required("with")?.text()?.to_owned(),
        })
    })
}

/// When the wall clock jumps, and to which time since 1970.
pub type Jump = (Duration, Duration);

/// `start` and `clock`: when it begins, and to what the wall clock jumps when.
pub fn clock(fields: &mut Fields<'_>) -> Read<(Option<Duration>, Vec<Jump>)> {
    let start = fields.maybe("start", |at| units::date(&at))?;
    // What the wall clock shows beyond the time of the run.
    let mut offset = start.unwrap_or(WALL_START);
    let mut jumps = Vec::new();
    let items = fields.maybe("clock", |at| at.items())?;
    for at in items.unwrap_or_default() {
        let (when, to) = at.map(|fields| jump(&at, fields, offset))?;
        if jumps.last().is_some_and(|(last, _)| *last > when) {
            return Err(fault(&at, "at: must not be before the jump above"));
        }
        offset = to.saturating_sub(when);
        jumps.push((when, to));
    }
    Ok((start, jumps))
}

fn jump(at: &At<'_>, fields: &mut Fields<'_>, offset: Duration) -> Read<Jump> {
    let when = units::time(&fields.required("at")?)?;
    let set = fields.maybe("set", |at| units::date(&at))?;
    let forward = fields.maybe("forward", |at| units::time(&at))?;
    let back = fields.maybe("back", |at| units::time(&at))?;
    let now = offset + when;
    match (set, forward, back) {
        (Some(date), None, None) => Ok((when, date)),
        (None, Some(time), None) => Ok((when, now + time)),
        (None, None, Some(time)) => Ok((when, now.saturating_sub(time))),
        _ => Err(fault(at, "needs one of set, forward and back")),
    }
}

/// `updates[]`
pub fn updates(fields: &mut Fields<'_>, keys: &Keys, edited: bool) -> Read<Vec<Update>> {
    let Some(list) = fields.optional("updates") else {
        return Ok(Vec::new());
    };
    if edited {
        return Err(fault(
            &list,
            "edit changes the first envoy.yaml only: leave out one of them",
        ));
    }
    list.each(|at| at.map(|fields| update(&at, fields, keys)))
}

fn update(at: &At<'_>, fields: &mut Fields<'_>, keys: &Keys) -> Read<Update> {
    let place = fields.required("gateway")?;
    let refused = fields.maybe("refused", |at| matcher(&at))?;
    let gateway = match (&refused, place.value()) {
        // What is refused is a fault here, unless that is what the scenario is about.
        (Some(_), Yaml::Map(_)) => Gateway::Inline(json::json(&place)?.to_string()),
        _ => gateway(&place, keys)?,
    };
    if let Gateway::Envoy(path) = gateway {
        return Err(fault(&place, format!("{path}: must be a gateway.json")));
    }
    Ok(Update {
        line: at.line(),
        at: units::time(&fields.required("at")?)?,
        gateway,
        refused,
    })
}

/// Names of workers: a list, or one name.
pub fn names(at: &At<'_>) -> Read<Vec<String>> {
    match at.value() {
        Yaml::List(_) => at.each(|at| at.text().map(str::to_owned)),
        _ => Ok(vec![at.text()?.to_owned()]),
    }
}
