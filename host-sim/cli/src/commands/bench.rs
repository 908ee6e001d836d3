//! `host-sim bench`: what requests cost each filter, in instructions.

use std::path::{Path, PathBuf};

use host_sim_scenario::bench::{Comparison, Table, Verdict, measure};
use lexopt::{Arg, Parser};

use super::serve::CACHE_DIR_VARIABLE;
use super::{Command, print};

/// Help of the command.
pub const HELP: &str = include_str!("bench.txt");

/// What to do with the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Print their sums.
    Show,
    /// Compare them with the table.
    Check,
    /// Write them into the table.
    Update,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What to do.
    pub what: What,
    /// The committed table.
    pub table: PathBuf,
    /// Folder of the modules.
    pub modules: PathBuf,
    /// Folder that keeps compiled modules.
    pub cache: Option<PathBuf>,
}

/// Reads the arguments behind the command's name.
pub fn parse(parser: &mut Parser) -> Result<Command, lexopt::Error> {
    let mut options = Options {
        what: What::Show,
        table: PathBuf::from("filters/instructions.tsv"),
        modules: PathBuf::from("envoy/modules"),
        cache: std::env::var_os(CACHE_DIR_VARIABLE).map(PathBuf::from),
    };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(HELP)),
            Arg::Long("check") if options.what == What::Show => options.what = What::Check,
            Arg::Long("update") if options.what == What::Show => options.what = What::Update,
            Arg::Long("check" | "update") => return Err("--check or --update, not both".into()),
            Arg::Long("table") => options.table = parser.value()?.into(),
            Arg::Long("cache-dir") => options.cache = Some(parser.value()?.into()),
            Arg::Long("modules") => options.modules = parser.value()?.into(),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Command::Bench(options))
}

/// Measures, and shows, checks or writes.
///
/// # Errors
/// A sentence for the user: nothing can be measured, or something costs more than the table says.
pub fn run(options: &Options) -> Result<(), String> {
    // A table that cannot be read is said at once, not after the measuring.
    let committed = match options.what {
        What::Check => Some(read(&options.table)?),
        What::Show | What::Update => None,
    };
    let measured = measure(&options.modules, options.cache.clone())?;
    match (options.what, committed) {
        (What::Check, Some(committed)) => check(&options.table, &committed, &measured),
        (What::Update, _) => std::fs::write(&options.table, measured.to_text())
            .map_err(|error| format!("cannot write {}: {error}", options.table.display())),
        _ => print(&measured.summary()),
    }
}

fn read(path: &Path) -> Result<Table, String> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let path = path.display();
        format!("cannot read {path}: {error} (host-sim bench --update writes it)")
    })?;
    Table::read(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn check(path: &Path, committed: &Table, measured: &Table) -> Result<(), String> {
    let comparison = Comparison::new(committed, measured);
    let path = path.display();
    print(&comparison.to_string())?;
    match comparison.verdict() {
        Verdict::Same => print(&format!(
            "{} numbers are within 5 % of {path}\n",
            measured.rows.len()
        )),
        Verdict::Fell => print(&format!(
            "requests cost less than {path} says: renew it with host-sim bench --update\n"
        )),
        Verdict::Rose => Err(format!(
            "requests cost more than {path} says; if that is worth it: host-sim bench --update"
        )),
    }
}
