//! Scenario files: a deployment, what happens to it and what must come of it, as YAML. The format is
//! described in `FORMAT.md` beside the manifest.
//!
//! [`read`] takes the text apart and judges it as a whole; nothing is run and no other file is opened.

mod bodies;
mod expectations;
mod gateway;
mod json;
mod matchers;
mod model;
mod parts;
mod requests;
mod units;
mod wanted;
mod workers;

use host_sim_envoy::yaml::{At, Fields, Problems, Read, Unknown, parse};
use host_sim_envoy::{Kind, Problem};

pub use gateway::key_text;
pub use model::{Behaviour, Cut, Edit, Gateway, RequestPlan, Scenario, Start, Update, WorkerPlan};
pub(crate) use units::show_time;
pub use wanted::{
    Count, Ending, Expected, Matcher, MetricName, Range, Test, Upstream, Whole, WorkerExpected,
};

/// Most requests of a scenario, repetitions counted: more is a load test, which this is not.
pub const MAX_REQUESTS: usize = 10_000;
/// Most bytes of one body, of a request or of an answer: twice what a gateway can be told to take.
pub const MAX_BODY_BYTES: usize = 128 * 1024 * 1024;
/// Most bytes of the bodies of all requests, repetitions counted, and of all answers that are written
/// down: they lie in memory at the same time.
pub const MAX_BODIES_BYTES: usize = 256 * 1024 * 1024;
/// Most pieces of one body.
pub const MAX_PIECES: usize = 10_000;
/// Most seeds that one scenario runs with.
pub const MAX_SEEDS: u64 = 1_000;
/// Most worker threads of a scenario.
pub const MAX_THREADS: usize = 64;
/// Longest run, in virtual time: a year.
pub const MAX_TIME: std::time::Duration = std::time::Duration::from_secs(366 * 86_400);

/// Reads a scenario.
///
/// # Errors
/// Every unknown field, up to [`host_sim_envoy::MAX_PROBLEMS`], and the first fault that stops the
/// reading, in the order of the file.
pub fn read(yaml: &str) -> Result<Scenario, Vec<Problem>> {
    let root = parse(yaml).map_err(|problem| vec![problem])?;
    let problems = Problems::new(Unknown::NoSuchField);
    let scenario = At::root(&root, &problems).map(scenario);
    let scenario = scenario.map_err(|problem| problems.add_last(problem));
    let mut list = problems.into_list();
    list.sort_by_key(|problem| problem.line);
    match scenario {
        Ok(scenario) if list.is_empty() => Ok(scenario),
        _ => Err(list),
    }
}

fn scenario(fields: &mut Fields<'_>) -> Read<Scenario> {
    let title = fields.required("scenario")?.name()?;
    let about = fields.maybe("about", |at| at.text().map(str::to_owned))?;
    let keys = parts::keys(fields)?;
    let gateway = fields.required("gateway")?;
    let gateway = gateway::gateway(&gateway, &keys)?;
    let workers = workers::workers(fields)?;
    let requests = requests::requests(fields, &keys)?;
    let whole = fields.maybe("expect", |at| expectations::whole(&at))?;
    let (start, jumps) = parts::clock(fields)?;
    let edits = fields.list("edit", |at| parts::edit(&at))?;
    let updates = parts::updates(fields, &keys, !edits.is_empty())?;
    Ok(Scenario {
        title,
        about,
        gateway,
        modules: fields.maybe("modules", |at| at.name())?,
        edits,
        threads: parts::threads(fields)?,
        seeds: parts::seeds(fields)?,
        environment: parts::environment(fields)?,
        start,
        jumps,
        updates,
        workers,
        requests,
        until: fields.maybe("until", |at| units::time(&at))?,
        whole: whole.unwrap_or_default(),
    })
}

/// A fault of a scenario that is none of `envoy.yaml`'s model.
fn fault(at: &At<'_>, what: impl Into<String>) -> Problem {
    Problem {
        kind: Kind::Refused,
        ..at.problem(what)
    }
}

#[cfg(test)]
mod tests;
