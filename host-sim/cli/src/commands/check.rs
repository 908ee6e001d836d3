//! `host-sim check`: what is wrong with a configuration, before it is deployed.

use std::path::PathBuf;
use std::sync::Arc;

use host_sim_check::{EnvoyVersion, Input, LATEST, Options as CheckOptions, Report, Severity};
use host_sim_vm::Modules;
use lexopt::{Arg, Parser, ValueExt};

use super::serve::CACHE_DIR_VARIABLE;
use super::{Command, Failure, print};

/// Help of the command.
pub const HELP: &str = include_str!("check.txt");
/// Files cannot be read, or the command line is wrong; 1 is for problems in the files.
const UNREADABLE: u8 = 2;

/// How the findings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// `envoy.yaml` and `gateway.json` files.
    pub files: Vec<PathBuf>,
    /// How the findings are written.
    pub format: Format,
    /// Warnings count as errors.
    pub strict: bool,
    /// Folder of the modules instead of the configuration's.
    pub modules: Option<String>,
    /// The modules are not run.
    pub without_modules: bool,
    /// The variables of credentials must be set here.
    pub require_env: bool,
    /// The oldest Envoy in use.
    pub envoy: EnvoyVersion,
    /// Compiled modules are kept here.
    pub cache_dir: Option<PathBuf>,
}

/// Reads the arguments behind the command's name.
pub fn parse(parser: &mut Parser) -> Result<Command, lexopt::Error> {
    let mut options = Options {
        files: Vec::new(),
        format: Format::Text,
        strict: false,
        modules: None,
        without_modules: false,
        require_env: false,
        envoy: LATEST,
        cache_dir: std::env::var_os(CACHE_DIR_VARIABLE).map(PathBuf::from),
    };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(HELP)),
            Arg::Long("format") => options.format = parser.value()?.parse_with(format)?,
            Arg::Long("strict") => options.strict = true,
            Arg::Long("modules") => options.modules = Some(parser.value()?.string()?),
            Arg::Long("without-modules") => options.without_modules = true,
            Arg::Long("require-env") => options.require_env = true,
            Arg::Long("envoy") => options.envoy = parser.value()?.parse()?,
            Arg::Long("cache-dir") => options.cache_dir = Some(parser.value()?.into()),
            Arg::Value(path) => options.files.push(path.into()),
            other => return Err(other.unexpected()),
        }
    }
    if options.files.is_empty() {
        return Err("the files to check are missing: envoy.yaml, gateway.json".into());
    }
    Ok(Command::Check(options))
}

fn format(text: &str) -> Result<Format, &'static str> {
    match text {
        "text" => Ok(Format::Text),
        "json" => Ok(Format::Json),
        _ => Err("must be text or json"),
    }
}

/// Checks the files and prints what was found: 0 if nothing was, 1 if there are errors.
///
/// # Errors
/// A file cannot be read.
pub fn run(options: &Options) -> Result<u8, Failure> {
    let mut inputs = Vec::new();
    for path in &options.files {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| Failure {
            code: UNREADABLE,
            message: format!("cannot read {name}: {error}"),
        })?;
        inputs.push(Input { name, text });
    }
    let report = report(&inputs, options)?;
    let text = match options.format {
        Format::Text => report.text(),
        Format::Json => report.json(),
    };
    print(&text)?;
    Ok(u8::from(report.count(Severity::Error) > 0))
}

fn report(inputs: &[Input], options: &Options) -> Result<Report, Failure> {
    let modules = (!options.without_modules).then(|| Modules::new(options.cache_dir.clone()));
    let modules = modules.transpose().map_err(|error| error.to_string())?;
    let checks = CheckOptions {
        vms: modules.map(|modules| Arc::new(modules) as _),
        modules: options.modules.clone(),
        environment: options.require_env.then(|| std::env::vars().collect()),
        envoy: options.envoy,
    };
    let report = host_sim_check::check(inputs, &checks);
    Ok(if options.strict {
        report.strict()
    } else {
        report
    })
}
