//! The workers and what becomes of them.

use std::collections::BTreeMap;
use std::time::Duration;

use host_sim_envoy::yaml::{At, Fields, Read, Value as Yaml};
use mock_worker::{At as Place, Drip, Faults, How, Interrupt};

use super::model::{Behaviour, WorkerPlan};
use super::{MAX_BODIES_BYTES, bodies, fault, parts, units};

/// `workers`
pub fn workers(fields: &mut Fields<'_>) -> Read<BTreeMap<String, WorkerPlan>> {
    let Some(list) = fields.optional("workers") else {
        return Ok(BTreeMap::new());
    };
    let mut plans = BTreeMap::new();
    let mut bytes = 0_usize;
    for (name, at) in list.entries()? {
        let plan = at.map(|fields| worker(&at, fields))?;
        let faults = plan
            .behaviours
            .iter()
            .filter_map(|(_, one)| one.faults.as_ref());
        bytes += faults
            .filter_map(|faults| faults.body.as_ref())
            .map(String::len)
            .sum::<usize>();
        if bytes > MAX_BODIES_BYTES {
            let what = format!("the bodies of all answers have more than {MAX_BODIES_BYTES} bytes");
            return Err(fault(&at, what));
        }
        plans.insert(name.to_owned(), plan);
    }
    Ok(plans)
}

fn worker(at: &At<'_>, fields: &mut Fields<'_>) -> Read<WorkerPlan> {
    let mut plan = WorkerPlan {
        line: at.line(),
        key: fields.maybe("key", |at| at.name())?,
        models: fields
            .maybe("models", |at| parts::names(&at))?
            .unwrap_or_default(),
        behaviours: Vec::new(),
    };
    let first = behaviour(at, fields)?;
    if first != Behaviour::default() {
        plan.behaviours.push((Duration::ZERO, first));
    }
    let then = fields.list("then", |at| {
        at.map(|fields| {
            let when = units::time(&fields.required("at")?)?;
            let change = behaviour(&at, fields)?;
            if change == Behaviour::default() {
                return Err(fault(&at, "changes nothing; healthy: true ends faults"));
            }
            Ok((when, change))
        })
    })?;
    plan.behaviours.extend(then);
    Ok(plan)
}

fn behaviour(at: &At<'_>, fields: &mut Fields<'_>) -> Read<Behaviour> {
    let healthy = fields.maybe("healthy", |at| match at.boolean()? {
        true => Ok(()),
        false => Err(fault(
            &at,
            "say what is wrong instead: status, hang, down, ...",
        )),
    })?;
    let faults = faults(at, fields)?;
    let faulty = faults != Faults::default();
    if faulty && healthy.is_some() {
        return Err(fault(at, "healthy: stands beside something that is not"));
    }
    let flag = |at: At<'_>| at.boolean();
    Ok(Behaviour {
        faults: (faulty || healthy.is_some()).then_some(faults),
        down: fields.maybe("down", flag)?,
        vanished: fields.maybe("vanished", flag)?,
        draining: fields.maybe("draining", flag)?,
        connect_delay: fields.maybe("connect_delay", |at| units::time(&at))?,
        release: fields.flag("release")?,
    })
}

fn faults(at: &At<'_>, fields: &mut Fields<'_>) -> Read<Faults> {
    let faults = Faults {
        times: fields.maybe("times", |at| match at.number32()? {
            0 => Err(fault(&at, "0: must be at least 1")),
            times => Ok(times),
        })?,
        path: fields.maybe("path", |at| at.name())?,
        delay_before_headers_ms: milliseconds(fields, "delay")?,
        status: fields.maybe("status", |at| at.status())?,
        headers: fields
            .maybe("headers", |at| {
                let lines = at.entries()?.into_iter();
                lines
                    .map(|(name, at)| Ok((name.to_owned(), at.text()?.to_owned())))
                    .collect()
            })?
            .unwrap_or_default(),
        body: bodies::body(fields)?,
        event_interval_ms: milliseconds(fields, "event_interval")?,
        broken_event_after: fields.maybe("broken_event_after", |at| Ok(at.number32()? as usize))?,
        drip: fields.maybe("drip", |at| at.map(drip))?,
        interrupt: interrupt(at, fields)?,
        garbage: fields.maybe("garbage", |at| at.text().map(str::to_owned))?,
    };
    let only_where = Faults {
        times: faults.times,
        path: faults.path.clone(),
        ..Faults::default()
    };
    if faults == only_where && faults != Faults::default() {
        return Err(fault(
            at,
            "times and path say which requests, but nothing is wrong with them",
        ));
    }
    Ok(faults)
}

fn milliseconds(fields: &mut Fields<'_>, key: &str) -> Read<u64> {
    let time = fields.maybe(key, |at| {
        let time = units::time(&at)?;
        if time.subsec_nanos() % 1_000_000 != 0 {
            return Err(fault(&at, "must be whole milliseconds"));
        }
        Ok(time)
    })?;
    // At most 366 days, so it fits.
    Ok(time.map_or(0, |time| {
        u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
    }))
}

fn drip(fields: &mut Fields<'_>) -> Read<Drip> {
    let bytes = fields.required("bytes")?;
    let bytes = match bytes.number32()? {
        0 => return Err(fault(&bytes, "0: must be at least 1")),
        count => count as usize,
    };
    Ok(Drip {
        bytes,
        interval_ms: milliseconds(fields, "every")?,
    })
}

/// One of `reset`, `close`, `hang` and `hold`, with the place where.
fn interrupt(at: &At<'_>, fields: &mut Fields<'_>) -> Read<Option<Interrupt>> {
    let mut found = None;
    for (key, how) in [
        ("reset", How::Reset),
        ("close", How::Close),
        ("hang", How::Stall),
        ("hold", How::Hold),
    ] {
        let place = fields.maybe(key, |at| place(&at))?;
        if place.is_some() && found.is_some() {
            return Err(fault(
                at,
                "an answer stops in one way: reset, close, hang or hold",
            ));
        }
        found = place.map(|at| Interrupt { at, how }).or(found);
    }
    Ok(found)
}

fn place(at: &At<'_>) -> Read<Place> {
    if let Yaml::Map(_) = at.value() {
        return at.map(|fields| {
            let bytes = fields.maybe("bytes", |at| units::size(&at))?;
            let events = fields.maybe("events", |at| at.number32())?;
            match (bytes, events) {
                (Some(bytes), None) => Ok(Place::Bytes(bytes)),
                (None, Some(events)) => Ok(Place::Events(events as usize)),
                _ => Err(fault(at, "needs one of bytes and events")),
            }
        });
    }
    match at.text()? {
        "before_head" => Ok(Place::BeforeHeaders),
        other => Err(fault(
            at,
            format!("{other}: must be before_head, {{bytes: N}} or {{events: N}}"),
        )),
    }
}
