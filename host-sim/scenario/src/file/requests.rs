//! What clients send.

use host_sim_envoy::yaml::{At, Fields, Read, Value as Yaml};
use std::time::Duration;

use super::gateway::key_text;
use super::model::{Cut, RequestPlan, Start};
use super::parts::Keys;
use super::{MAX_BODIES_BYTES, MAX_PIECES, MAX_REQUESTS, bodies, expectations, fault, units};

/// Where chats go.
const CHAT_PATH: &str = "/v1/chat/completions";

/// `requests`
pub fn requests(fields: &mut Fields<'_>, keys: &Keys) -> Read<Vec<RequestPlan>> {
    let Some(list) = fields.optional("requests") else {
        return Ok(Vec::new());
    };
    let mut plans: Vec<RequestPlan> = Vec::new();
    let (mut total, mut bytes) = (0, 0_usize);
    for at in list.items()? {
        let plan = at.map(|fields| request(&at, fields, keys, plans.len()))?;
        if plans.iter().any(|other| other.name == plan.name) {
            return Err(fault(&at, format!("name: {}: there is another", plan.name)));
        }
        if let Some((line, name)) = &plan.expected.same_body_as
            && !plans.iter().any(|other| other.name == *name)
        {
            let mut problem = fault(
                &at,
                format!("{name}: there is no request of that name above"),
            );
            problem.line = *line;
            problem.path.push_str(".expect.same_body_as");
            return Err(problem);
        }
        total += plan.times;
        if total > MAX_REQUESTS {
            return Err(fault(
                &at,
                format!("there are more than {MAX_REQUESTS} requests"),
            ));
        }
        let body = plan.body.as_ref().map_or(0, Vec::len);
        bytes = bytes.saturating_add(body.saturating_mul(plan.times));
        if bytes > MAX_BODIES_BYTES {
            let what =
                format!("the bodies of all requests have more than {MAX_BODIES_BYTES} bytes");
            return Err(fault(&at, what));
        }
        plans.push(plan);
    }
    Ok(plans)
}

fn request(at: &At<'_>, fields: &mut Fields<'_>, keys: &Keys, index: usize) -> Read<RequestPlan> {
    let name = fields.maybe("name", |at| at.text().map(str::to_owned))?;
    let times = fields.maybe("times", |at| match at.number(MAX_REQUESTS as u64)? {
        0 => Err(fault(&at, "0: must be at least 1")),
        times => Ok(times as usize),
    })?;
    let body = bodies::request_body(fields)?.map(String::into_bytes);
    let method = fields.maybe("method", |at| at.name())?;
    let method = method.unwrap_or_else(|| if body.is_some() { "POST" } else { "GET" }.to_owned());
    let mut headers = key(fields, keys)?;
    headers.extend(lines(fields)?);
    let is_json = body.is_some() && !headers.iter().any(|(name, _)| name == "content-type");
    if is_json {
        headers.insert(
            0,
            ("content-type".to_owned(), "application/json".to_owned()),
        );
    }
    let path = fields.maybe("path", |at| path(&at))?;
    let path = path.unwrap_or_else(|| CHAT_PATH.to_owned());
    Ok(RequestPlan {
        line: at.line(),
        name: name.unwrap_or_else(|| format!("request {}", index + 1)),
        start: start(at, fields)?,
        times: times.unwrap_or(1),
        every: time(fields, "every")?,
        method,
        path,
        headers,
        cut: cut(at, fields, body.as_deref().unwrap_or_default())?,
        body,
        pause: time(fields, "pause")?,
        chunked: fields.flag("chunked")?,
        unfinished: fields.flag("unfinished")?,
        leaves: fields.maybe("leaves", |at| units::time(&at))?,
        thread: fields.maybe("thread", |at| Ok(at.number32()? as usize))?,
        listener: fields
            .maybe("listener", |at| Ok(at.number32()? as usize))?
            .unwrap_or_default(),
        expected: fields
            .maybe("expect", |at| expectations::expected(&at))?
            .unwrap_or_default(),
    })
}

fn time(fields: &mut Fields<'_>, key: &str) -> Read<Duration> {
    Ok(fields
        .maybe(key, |at| units::time(&at))?
        .unwrap_or_default())
}

fn start(at: &At<'_>, fields: &mut Fields<'_>) -> Read<Start> {
    let absolute = fields.maybe("at", |at| units::time(&at))?;
    let after = fields.maybe("after", |at| units::time(&at))?;
    match (absolute, after) {
        (Some(_), Some(_)) => Err(fault(at, "needs at most one of at and after")),
        (Some(time), None) => Ok(Start::At(time)),
        (None, after) => Ok(Start::After(after.unwrap_or_default())),
    }
}

fn path(at: &At<'_>) -> Read<String> {
    let path = at.name()?;
    if !path.starts_with('/') || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(fault(
            at,
            format!("{path}: must begin with / and have no spaces"),
        ));
    }
    Ok(path)
}

/// `key`: the credential of one of the scenario's keys.
fn key(fields: &mut Fields<'_>, keys: &Keys) -> Read<Vec<(String, String)>> {
    let key = fields.maybe("key", |at| {
        let name = at.text()?;
        if !keys.contains_key(name) {
            return Err(fault(
                &at,
                format!("{name}: is none of keys; send another credential with headers"),
            ));
        }
        Ok((
            "authorization".to_owned(),
            format!("Bearer {}", key_text(name)),
        ))
    })?;
    Ok(key.into_iter().collect())
}

/// `headers`: a value each, or a list of values.
fn lines(fields: &mut Fields<'_>) -> Read<Vec<(String, String)>> {
    let Some(at) = fields.optional("headers") else {
        return Ok(Vec::new());
    };
    let mut lines = Vec::new();
    for (name, at) in at.entries()? {
        let is_name = !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b':');
        if !is_name {
            return Err(fault(&at, format!("{name:?}: is no name of a header")));
        }
        let values = match at.value() {
            Yaml::List(_) => at.each(|at| value(&at))?,
            _ => vec![value(&at)?],
        };
        let name = name.to_ascii_lowercase();
        lines.extend(values.into_iter().map(|value| (name.clone(), value)));
    }
    Ok(lines)
}

fn value(at: &At<'_>) -> Read<String> {
    let text = at.text()?;
    if text.contains(['\r', '\n', '\0']) {
        return Err(fault(at, "a header has one line"));
    }
    Ok(text.to_owned())
}

fn cut(at: &At<'_>, fields: &mut Fields<'_>, body: &[u8]) -> Read<Option<Cut>> {
    let pieces = fields.maybe("pieces", |at| match at.number(MAX_PIECES as u64)? {
        0 => Err(fault(&at, "0: must be at least 1")),
        pieces => Ok(pieces as usize),
    })?;
    let offsets = fields.maybe("cut", |at| {
        let offsets = at.each(|at| units::size(&at))?;
        let rising = offsets.is_sorted() && offsets.last().is_none_or(|last| *last <= body.len());
        if !rising || offsets.len() >= MAX_PIECES {
            return Err(fault(
                &at,
                format!(
                    "must be rising offsets into the body, which has {} bytes",
                    body.len()
                ),
            ));
        }
        Ok(offsets)
    })?;
    match (pieces, offsets) {
        (Some(_), Some(_)) => Err(fault(at, "needs at most one of pieces and cut")),
        (Some(pieces), None) => Ok(Some(Cut::Pieces(pieces))),
        (None, offsets) => Ok(offsets.map(Cut::At)),
    }
}
