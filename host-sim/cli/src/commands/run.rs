//! `host-sim run`: scenarios on a virtual clock.

mod files;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use host_sim_scenario::golden::MAX_BYTES;
use host_sim_scenario::play::Surroundings;
use host_sim_scenario::report::{self, Report};
use host_sim_scenario::suite::{self, Wanted};
use lexopt::{Arg, Parser, ValueExt};

use super::{Command, print};
use crate::commands::serve::CACHE_DIR_VARIABLE;

/// Help of the command.
pub const HELP: &str = include_str!("run.txt");

/// How the result is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A line a scenario, and what is wrong.
    #[default]
    Text,
    /// One JSON document.
    Json,
}

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Scenario files and folders of them.
    pub paths: Vec<PathBuf>,
    /// Only files with this in their path or title.
    pub filter: Option<String>,
    /// How the result is printed.
    pub format: Format,
    /// Gets JUnit's XML.
    pub junit: Option<PathBuf>,
    /// Folder that gets a trace for each scenario.
    pub record: Option<PathBuf>,
    /// Compare with the traces beside the scenarios.
    pub check_golden: bool,
    /// Only this seed.
    pub seed: Option<u64>,
    /// Folder of the modules.
    pub modules: Option<PathBuf>,
    /// Folder of compiled modules.
    pub cache: Option<PathBuf>,
}

/// Reads the arguments behind the command's name.
pub fn parse(parser: &mut Parser) -> Result<Command, lexopt::Error> {
    let mut options = Options {
        cache: std::env::var_os(CACHE_DIR_VARIABLE).map(PathBuf::from),
        ..Options::default()
    };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(HELP)),
            Arg::Long("filter") => options.filter = Some(parser.value()?.string()?),
            Arg::Long("format") => options.format = parser.value()?.parse_with(format)?,
            Arg::Long("junit") => options.junit = Some(parser.value()?.into()),
            Arg::Long("record") => options.record = Some(parser.value()?.into()),
            Arg::Long("check-golden") => options.check_golden = true,
            Arg::Long("seed") => options.seed = Some(parser.value()?.parse()?),
            Arg::Long("modules") => options.modules = Some(parser.value()?.into()),
            Arg::Long("cache-dir") => options.cache = Some(parser.value()?.into()),
            Arg::Value(path) => options.paths.push(path.into()),
            other => return Err(other.unexpected()),
        }
    }
    if options.paths.is_empty() {
        return Err("a scenario is missing: a .yaml file or a folder of them".into());
    }
    Ok(Command::Run(options))
}

fn format(text: &str) -> Result<Format, String> {
    match text {
        "text" => Ok(Format::Text),
        "json" => Ok(Format::Json),
        _ => Err("must be text or json".to_owned()),
    }
}

/// Runs all, tells what came of them.
///
/// # Errors
/// A sentence for the user: a file cannot be read or written, or a scenario failed.
pub fn run(options: &Options) -> Result<(), String> {
    let found = files::scenarios(&options.paths)?;
    let chosen: Vec<&files::File> = found.iter().filter(|file| wanted(file, options)).collect();
    if chosen.is_empty() {
        return Err("no scenario is left: look at --filter".to_owned());
    }
    let mut reports = Vec::new();
    for (index, file) in chosen.iter().enumerate() {
        progress(index, chosen.len(), Some(&file.path));
        let report = one(file, options)?;
        progress(index, chosen.len(), None);
        if options.format == Format::Text {
            print(&report::text(&report))?;
        }
        reports.push(report);
    }
    match options.format {
        Format::Text => print(&report::total(&reports))?,
        Format::Json => print(&report::json(&reports))?,
    }
    if let Some(path) = &options.junit {
        files::write(path, &report::junit(&reports))?;
    }
    match reports.iter().filter(|report| !report.passed()).count() {
        0 => Ok(()),
        1 => Err("a scenario failed".to_owned()),
        failed => Err(format!("{failed} scenarios failed")),
    }
}

fn wanted(file: &files::File, options: &Options) -> bool {
    let title = file.text.lines().find(|line| line.starts_with("scenario:"));
    options.filter.as_deref().is_none_or(|filter| {
        file.path.to_string_lossy().contains(filter)
            || title.is_some_and(|line| line.contains(filter))
    })
}

fn one(file: &files::File, options: &Options) -> Result<Report, String> {
    let modules = options.modules.as_deref();
    let modules = modules.unwrap_or(Path::new("envoy/modules"));
    let surroundings = Surroundings {
        cache: options.cache.clone(),
        ..Surroundings::of(&file.path, modules)
    };
    let golden = match options.check_golden {
        true => files::golden(&file.path)?,
        false => None,
    };
    let started = Instant::now();
    let name = file.path.display().to_string();
    let wanted = Wanted {
        seed: options.seed,
        record: options.record.is_some(),
        golden: golden.as_deref(),
    };
    let mut report = suite::run(&name, &file.text, &surroundings, wanted);
    report.took = started.elapsed();
    if let (Some(folder), Some(run)) = (&options.record, report.runs.first()) {
        let trace = run.trace.as_deref().unwrap_or_default();
        if trace.len() > MAX_BYTES {
            let (bytes, path) = (trace.len(), file.path.display());
            return Err(format!(
                "{path}: its trace has {bytes} bytes, and at most {MAX_BYTES} are kept: make the scenario smaller"
            ));
        }
        files::write(&files::trace_in(folder, &file.path), trace)?;
    }
    Ok(report)
}

/// On a terminal, which scenario runs; nothing is written elsewhere.
fn progress(index: usize, all: usize, path: Option<&Path>) {
    let mut out = std::io::stderr().lock();
    if !out.is_terminal() {
        return;
    }
    // A terminal that is gone is no reason to stop.
    let _ = match path {
        Some(path) => write!(out, "\r\x1b[K{}/{all} {}", index + 1, path.display()),
        None => write!(out, "\r\x1b[K"),
    };
    let _ = out.flush();
}
