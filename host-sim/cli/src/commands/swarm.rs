//! `host-sim swarm`: arguments, and what a person sees of a long run.

mod crew;
mod report;

use std::path::PathBuf;

use host_sim_swarm::plan::{Plan, Planted};
use host_sim_swarm::{Outcome, generate};
use lexopt::{Arg, Parser, ValueExt};

use super::{Command, print};

/// Help of the command.
pub const HELP: &str = include_str!("swarm.txt");

/// Seeds of a run, unless told.
const SEEDS: u64 = 200;
/// Most seeds at a time; more than any machine has cores for.
const JOBS_LIMIT: usize = 256;
/// Seeds in which a planted fault must be found. Half of all plans have limits, fewer have crowds that race for one
/// bucket on several threads.
const CANARY_SEEDS: u64 = 300;
/// Every fault that can be planted.
const PLANTED: [(&str, Planted); 5] = [
    ("wrong_credential", Planted::WrongCredential),
    ("loose_limits", Planted::LooseLimits),
    ("loose_caps", Planted::LooseCaps),
    ("forgets_unknown", Planted::ForgetsUnknown),
    ("no_compare", Planted::NoCompare),
];

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The plans.
    pub what: What,
    /// How many at a time.
    pub jobs: usize,
    /// Where smallest plans go.
    pub keep: PathBuf,
    /// Whether the trace is printed.
    pub trace: bool,
    /// Whether failing plans are made smaller.
    pub shrink: bool,
    /// Whether hashes are printed.
    pub hashes: bool,
    /// A fault of the gateway.
    pub planted: Option<Planted>,
    /// Folder of the modules.
    pub modules: PathBuf,
}

/// Which plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// Those of so many seeds from this one on.
    Seeds {
        /// The first.
        from: u64,
        /// How many.
        count: u64,
    },
    /// The one in a file.
    Replay(PathBuf),
    /// Every planted fault must be found.
    Canary,
}

/// Reads the arguments behind the command's name.
pub fn parse(parser: &mut Parser) -> Result<Command, lexopt::Error> {
    let (mut from, mut count) = (0, SEEDS);
    let (mut replay, mut canary) = (None, false);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut options = Options {
        what: What::Canary,
        jobs: cores.min(JOBS_LIMIT),
        keep: std::env::temp_dir().join("host-sim-swarm"),
        trace: false,
        shrink: true,
        hashes: false,
        planted: None,
        modules: PathBuf::from("envoy/modules"),
    };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(HELP)),
            Arg::Long("seeds") => count = parser.value()?.parse()?,
            Arg::Long("from") => from = parser.value()?.parse()?,
            Arg::Long("seed") => (from, count) = (parser.value()?.parse()?, 1),
            Arg::Long("jobs") => options.jobs = parser.value()?.parse_with(jobs)?,
            Arg::Long("replay") => replay = Some(PathBuf::from(parser.value()?)),
            Arg::Long("keep") => options.keep = parser.value()?.into(),
            Arg::Long("trace") => options.trace = true,
            Arg::Long("no-shrink") => options.shrink = false,
            Arg::Long("hashes") => options.hashes = true,
            Arg::Long("plant") => options.planted = Some(parser.value()?.parse_with(planted)?),
            Arg::Long("canary") => canary = true,
            Arg::Long("modules") => options.modules = parser.value()?.into(),
            other => return Err(other.unexpected()),
        }
    }
    options.what = match replay {
        _ if canary => What::Canary,
        Some(file) => What::Replay(file),
        None => What::Seeds { from, count },
    };
    Ok(Command::Swarm(options))
}

fn jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(jobs @ 1..=JOBS_LIMIT) => Ok(jobs),
        _ => Err(format!("must be 1 to {JOBS_LIMIT}")),
    }
}

fn planted(text: &str) -> Result<Planted, String> {
    let names: Vec<&str> = PLANTED.iter().map(|(name, _)| *name).collect();
    let known = PLANTED.iter().find(|(name, _)| *name == text);
    known
        .map(|(_, planted)| *planted)
        .ok_or_else(|| format!("must be one of {}", names.join(", ")))
}

/// Runs it.
///
/// # Errors
/// A promise was broken, a planted fault was not found, or there is nothing to run.
pub fn run(options: &Options) -> Result<(), String> {
    match &options.what {
        What::Seeds { from, count } => seeds(options, *from, *count),
        What::Replay(file) => replay(options, file),
        What::Canary => canary(options),
    }
}

fn seeds(options: &Options, from: u64, count: u64) -> Result<(), String> {
    let outcome = crew::run(options, from, count, |_| false)?;
    report::failures(options, &outcome)?;
    let sentence = report::sentence(&outcome, count);
    print(&format!("{sentence}\n"))?;
    if outcome.failed.is_empty() && !outcome.interrupted {
        Ok(())
    } else {
        Err(sentence)
    }
}

fn replay(options: &Options, file: &std::path::Path) -> Result<(), String> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("{shown}: {error}"))?;
    let plan: Plan = serde_json::from_str(&text).map_err(|error| format!("{shown}: {error}"))?;
    let outcome = outcome_of(&plan, options)?;
    print(&report::outcome(&outcome, options))?;
    if outcome.violations.is_empty() {
        print("clean\n")
    } else {
        Err(format!(
            "{shown} breaks {} promises",
            outcome.violations.len()
        ))
    }
}

/// Plants each fault, and says after how many seeds it was found.
fn canary(options: &Options) -> Result<(), String> {
    for (name, planted) in PLANTED {
        let options = Options {
            planted: Some(planted),
            ..options.clone()
        };
        let outcome = crew::run(&options, 0, CANARY_SEEDS, |outcome| {
            !outcome.violations.is_empty()
        })?;
        let found = outcome.failed.first().and_then(|failed| {
            let violation = failed.outcome.violations.first()?;
            Some(format!(
                "{name}: found with seed {}: {}: {}\n",
                failed.seed, violation.invariant, violation.what
            ))
        });
        match found {
            Some(found) => print(&found)?,
            None => return Err(format!("{name}: not found in {CANARY_SEEDS} seeds")),
        }
    }
    Ok(())
}

fn plan_of(seed: u64, options: &Options) -> Plan {
    Plan {
        planted: options.planted,
        ..generate::plan(seed)
    }
}

fn outcome_of(plan: &Plan, options: &Options) -> Result<Outcome, String> {
    host_sim_swarm::run(plan, &options.modules).map_err(|error| error.to_string())
}
