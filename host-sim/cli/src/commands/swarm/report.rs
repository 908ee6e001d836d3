//! What a person reads of seeds that failed.

use std::fmt::Write;

use host_sim_swarm::plan::Plan;
use host_sim_swarm::{Outcome, shrink};

use super::crew::{Crew, Failed};
use super::{Options, outcome_of, plan_of, print};

/// Most failing seeds that are made smaller; of the others only the number and the promise are told.
const SMALLER: usize = 3;
/// Most broken promises of one run that are printed.
const VIOLATIONS: usize = 10;

/// Prints every failing seed, and the smallest plan of the first few.
///
/// # Errors
/// Standard output or a plan cannot be written.
pub fn failures(options: &Options, crew: &Crew) -> Result<(), String> {
    let detailed = if options.shrink {
        SMALLER
    } else {
        crew.failed.len()
    };
    for failed in crew.failed.iter().take(detailed) {
        print(&format!(
            "\nseed {}\n{}",
            failed.seed,
            outcome(&failed.outcome, options)
        ))?;
        if options.shrink {
            print(&smaller(options, failed)?)?;
        }
    }
    for failed in crew.failed.iter().skip(detailed) {
        let first = failed.outcome.violations.first();
        let first = first.map_or("", |violation| violation.invariant);
        print(&format!("seed {}: {first}\n", failed.seed))?;
    }
    Ok(())
}

/// The promises that a run broke, and its trace if that is wanted.
pub fn outcome(outcome: &Outcome, options: &Options) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    for violation in outcome.violations.iter().take(VIOLATIONS) {
        let _ = writeln!(text, "  {}: {}", violation.invariant, violation.what);
    }
    let more = outcome.violations.len().saturating_sub(VIOLATIONS);
    if more > 0 {
        let _ = writeln!(text, "  and {more} more");
    }
    if options.trace {
        let _ = writeln!(text, "{}", outcome.trace);
    }
    text
}

/// One sentence about all seeds.
pub fn sentence(crew: &Crew, count: u64) -> String {
    let seconds = crew.time.as_secs_f64();
    let (done, failed) = (crew.done, crew.failed.len());
    let end = if crew.interrupted {
        ", interrupted"
    } else {
        ""
    };
    match failed {
        0 => format!("{done} of {count} seeds clean in {seconds:.1} s{end}"),
        _ => format!("{failed} of {done} seeds failed in {seconds:.1} s{end}"),
    }
}

fn smaller(options: &Options, failed: &Failed) -> Result<String, String> {
    let Some(first) = failed.outcome.violations.first() else {
        return Ok(String::new());
    };
    let plan = plan_of(failed.seed, options);
    let breaks = |plan: &Plan| {
        outcome_of(plan, options).is_ok_and(|outcome| {
            let mut violations = outcome.violations.iter();
            violations.any(|violation| violation.invariant == first.invariant)
        })
    };
    let small = shrink::shrink(&plan, breaks);
    let text = serde_json::to_string_pretty(&small).map_err(|error| error.to_string())?;
    let file = options.keep.join(format!("seed-{}.json", failed.seed));
    let written = std::fs::create_dir_all(&options.keep)
        .and_then(|()| std::fs::write(&file, format!("{text}\n")));
    let shown = file.display();
    written.map_err(|error| format!("{shown}: {error}"))?;
    let now = outcome_of(&small, options)?;
    let (before, after) = (size(&plan), size(&small));
    let seed = failed.seed;
    Ok(format!(
        "the smallest plan that breaks this promise ({after}; before: {before}):\n{text}\n{}\
         again: host-sim swarm --replay {shown} --trace\n   or: host-sim swarm --seed {seed} --trace\n",
        outcome(
            &now,
            &Options {
                trace: false,
                ..options.clone()
            }
        ),
    ))
}

fn size(plan: &Plan) -> String {
    let (requests, faults) = (plan.requests.len(), plan.faults.len());
    let (workers, threads) = (plan.topology.workers.len(), plan.threads);
    format!("{requests} requests, {faults} faults, {workers} workers, {threads} threads")
}
