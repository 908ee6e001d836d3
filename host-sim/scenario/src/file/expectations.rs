//! What must come of a request and of the whole run.

use host_sim_envoy::yaml::{At, Fields, Read};

use super::matchers::{count, counts, headers, matcher, matchers, range, size};
use super::wanted::{Count, Ending, Expected, MetricName, Upstream, Whole, WorkerExpected};
use super::{MAX_PIECES, fault, parts, units};

/// `requests[].expect`
pub fn expected(at: &At<'_>) -> Read<Expected> {
    at.map(|fields| {
        Ok(Expected {
            status: fields.maybe("status", |at| matcher(&at))?,
            headers: fields
                .maybe("headers", |at| headers(&at))?
                .unwrap_or_default(),
            json: fields
                .maybe("json", |at| matchers(&at))?
                .unwrap_or_default(),
            text: fields.maybe("text", |at| matcher(&at))?,
            body_bytes: fields.maybe("body_bytes", |at| size(&at))?,
            same_body_as: fields
                .maybe("same_body_as", |at| Ok((at.line(), at.text()?.to_owned())))?,
            first_byte: fields.maybe("first_byte", |at| range(&at))?,
            took: fields.maybe("took", |at| range(&at))?,
            pieces_at: fields.maybe("pieces_at", |at| {
                let times = at.each(|at| units::time(&at))?;
                if times.len() > MAX_PIECES {
                    return Err(fault(&at, format!("must be at most {MAX_PIECES}")));
                }
                Ok((at.line(), times))
            })?,
            pieces: fields.maybe("pieces", |at| count(&at))?,
            ended: fields.maybe("ended", |at| Ok((at.line(), ending(&at)?)))?,
            attempts: fields.maybe("attempts", |at| Ok((at.line(), parts::names(&at)?)))?,
            upstream: fields.maybe("upstream", |at| at.map(upstream))?,
            log: fields.maybe("log", |at| matchers(&at))?.unwrap_or_default(),
            statuses: fields
                .maybe("statuses", |at| statuses(&at))?
                .unwrap_or_default(),
            served_by: fields
                .maybe("served_by", |at| counts(&at))?
                .unwrap_or_default(),
        })
    })
}

fn ending(at: &At<'_>) -> Read<Ending> {
    match at.text()? {
        "complete" => Ok(Ending::Complete),
        "broken" => Ok(Ending::Broken),
        "left" => Ok(Ending::Left),
        "never" => Ok(Ending::Never),
        other => Err(fault(
            at,
            format!("{other}: must be complete, broken, left or never"),
        )),
    }
}

fn upstream(fields: &mut Fields<'_>) -> Read<Upstream> {
    Ok(Upstream {
        path: fields.maybe("path", |at| matcher(&at))?,
        headers: fields
            .maybe("headers", |at| headers(&at))?
            .unwrap_or_default(),
        json: fields
            .maybe("json", |at| matchers(&at))?
            .unwrap_or_default(),
        text: fields.maybe("text", |at| matcher(&at))?,
        body_bytes: fields.maybe("body_bytes", |at| size(&at))?,
    })
}

fn statuses(at: &At<'_>) -> Read<Vec<(u16, Count)>> {
    let entries = at.entries()?.into_iter();
    entries
        .map(|(status, at)| {
            let number = status
                .parse()
                .ok()
                .filter(|status| (100..600).contains(status));
            let number = number.ok_or_else(|| fault(&at, "its key must be a status"))?;
            Ok((number, count(&at)?))
        })
        .collect()
}

/// `expect`
pub fn whole(at: &At<'_>) -> Read<Whole> {
    at.map(|fields| {
        let workers = fields.maybe("workers", |at| {
            let entries = at.entries()?.into_iter();
            entries
                .map(|(name, at)| Ok((name.to_owned(), at.map(|fields| worker(&at, fields))?)))
                .collect()
        })?;
        let metrics = fields.maybe("metrics", |at| {
            let entries = at.entries()?.into_iter();
            entries
                .map(|(name, at)| Ok((metric(&at, name)?, matcher(&at)?)))
                .collect()
        })?;
        Ok(Whole {
            workers: workers.unwrap_or_default(),
            order: fields.maybe("order", |at| Ok((at.line(), parts::names(&at)?)))?,
            access_log: fields.list("access_log", |at| {
                at.map(|fields| {
                    let lines = matchers(&fields.required("where")?)?;
                    Ok((lines, times(&at, fields)?))
                })
            })?,
            log: fields.list("log", |at| {
                at.map(|fields| {
                    let level = fields.maybe("level", |at| at.name())?;
                    let text = fields.maybe("contains", |at| at.text().map(str::to_owned))?;
                    Ok((level, text.unwrap_or_default(), times(&at, fields)?))
                })
            })?,
            metrics: metrics.unwrap_or_default(),
        })
    })
}

/// `times`, or once at least.
fn times(at: &At<'_>, fields: &mut Fields<'_>) -> Read<Count> {
    let some = Count {
        line: at.line(),
        least: 1,
        most: u64::MAX,
    };
    Ok(fields.maybe("times", |at| count(&at))?.unwrap_or(some))
}

fn worker(at: &At<'_>, fields: &mut Fields<'_>) -> Read<WorkerExpected> {
    Ok(WorkerExpected {
        line: at.line(),
        requests: fields.maybe("requests", |at| count(&at))?,
        probes: fields.maybe("probes", |at| count(&at))?,
        broken: fields.maybe("broken", |at| count(&at))?,
        paths: fields.maybe("paths", |at| counts(&at))?.unwrap_or_default(),
        models: fields
            .maybe("models", |at| counts(&at))?
            .unwrap_or_default(),
        headers: fields
            .maybe("headers", |at| headers(&at))?
            .unwrap_or_default(),
    })
}

/// `name{label="value",...}`
fn metric(at: &At<'_>, text: &str) -> Read<MetricName> {
    let wrong = || {
        fault(
            at,
            "its key must be a metric like name or name{label=\"value\"}",
        )
    };
    let (name, labels) = match text.split_once('{') {
        None => (text, ""),
        Some((name, labels)) => (name, labels.strip_suffix('}').ok_or_else(wrong)?),
    };
    let label = |label: &str| {
        let (name, value) = label.split_once('=')?;
        let value = value.trim().strip_prefix('"')?.strip_suffix('"')?;
        Some((name.trim().to_owned(), value.to_owned()))
    };
    let labels = labels.split(',').filter(|label| !label.trim().is_empty());
    Ok(MetricName {
        name: name.trim().to_owned(),
        labels: labels.map(label).collect::<Option<_>>().ok_or_else(wrong)?,
    })
}
