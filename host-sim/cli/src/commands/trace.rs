//! `host-sim trace`: one request explained.

use std::io::IsTerminal;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use host_sim_scenario::explain::{Gateway, Question, Sent, explain, json, text};
use lexopt::{Arg, Parser, ValueExt};

use super::serve::CACHE_DIR_VARIABLE;
use super::{Command, print};

/// Help of the command.
pub const HELP: &str = include_str!("trace.txt");

/// Where the gateway of the repository lies.
const SHIPPED: &str = "envoy/gateway.json";

/// Which file configures the gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A `gateway.json`.
    Gateway(PathBuf),
    /// An `envoy.yaml`.
    Envoy(PathBuf),
}

/// How the story is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For a terminal.
    Text,
    /// For programs.
    Json,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The configuration.
    pub source: Source,
    /// `FILE` of `-d @FILE`, to be read as the body.
    pub data_file: Option<PathBuf>,
    /// The rest; its configuration is not read yet.
    pub question: Question,
    /// The form.
    pub format: Format,
}

/// Reads the arguments behind the command's name.
pub fn parse(parser: &mut Parser) -> Result<Command, lexopt::Error> {
    let mut source = None;
    let mut options = Options {
        source: Source::Gateway(SHIPPED.into()),
        data_file: None,
        question: Question {
            gateway: Gateway::Json(String::new()),
            modules: "envoy/modules".into(),
            cache: std::env::var_os(CACHE_DIR_VARIABLE).map(PathBuf::from),
            sent: Sent::default(),
            times: NonZeroU32::MIN,
            answers: Vec::new(),
            worker_delay: Duration::from_millis(20),
            seed: 1,
        },
        format: Format::Text,
    };
    let question = &mut options.question;
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(HELP)),
            Arg::Long("gateway") if source.is_none() => {
                source = Some(Source::Gateway(parser.value()?.into()))
            }
            Arg::Short('c') | Arg::Long("config-path") if source.is_none() => {
                source = Some(Source::Envoy(parser.value()?.into()));
            }
            Arg::Long("gateway" | "config-path") | Arg::Short('c') => {
                return Err("one configuration: --gateway FILE or -c FILE".into());
            }
            Arg::Long("cache-dir") => question.cache = Some(parser.value()?.into()),
            Arg::Long("modules") => question.modules = parser.value()?.into(),
            Arg::Short('X') | Arg::Long("method") => {
                question.sent.method = Some(parser.value()?.string()?)
            }
            Arg::Long("path") => question.sent.path = Some(parser.value()?.parse_with(path)?),
            Arg::Short('H') | Arg::Long("header") => question
                .sent
                .headers
                .push(parser.value()?.parse_with(header)?),
            Arg::Short('d') | Arg::Long("data") => {
                let data = parser.value()?.string()?;
                match data.strip_prefix('@') {
                    Some(file) => options.data_file = Some(file.into()),
                    None => question.sent.body = Some(data.into_bytes()),
                }
            }
            Arg::Long("times") => question.times = parser.value()?.parse_with(times)?,
            Arg::Long("worker-answers") => {
                question.answers = parser
                    .values()?
                    .map(|value| value.parse())
                    .collect::<Result<_, _>>()?;
            }
            Arg::Long("worker-delay-ms") => {
                question.worker_delay = Duration::from_millis(parser.value()?.parse()?);
            }
            Arg::Long("seed") => question.seed = parser.value()?.parse()?,
            Arg::Long("format") => options.format = parser.value()?.parse_with(format)?,
            other => return Err(other.unexpected()),
        }
    }
    options.source = source.unwrap_or(options.source);
    Ok(Command::Trace(Box::new(options)))
}

/// Runs the request and tells what happened.
///
/// # Errors
/// A sentence for the user: a file cannot be read, the gateway cannot be set up, the request waits for ever.
pub fn run(options: &Options) -> Result<(), String> {
    let mut question = options.question.clone();
    let (path, gateway): (_, fn(String) -> Gateway) = match &options.source {
        Source::Gateway(path) => (path, Gateway::Json),
        Source::Envoy(path) => (path, Gateway::Envoy),
    };
    question.gateway = gateway(String::from_utf8_lossy(&read(path)?).into_owned());
    if let Some(file) = &options.data_file {
        question.sent.body = Some(read(file)?);
    }
    let story = explain(&question).map_err(|error| format!("{}: {error}", path.display()))?;
    match options.format {
        Format::Json => print(&format!("{:#}\n", json(&story))),
        Format::Text => {
            let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            print(&text(&story, std::io::stdout().is_terminal() && !no_colour))
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn path(text: &str) -> Result<String, &'static str> {
    if text.starts_with('/') {
        Ok(text.to_owned())
    } else {
        Err("must begin with /")
    }
}

fn header(text: &str) -> Result<(String, String), &'static str> {
    match text.split_once(':') {
        Some((name, value)) if !name.is_empty() => {
            Ok((name.to_ascii_lowercase(), value.trim().to_owned()))
        }
        _ => Err("must be NAME: VALUE"),
    }
}

/// Most requests before a story is told.
const TIMES_LIMIT: u32 = 10_000;

fn times(text: &str) -> Result<NonZeroU32, String> {
    let number = text.parse().ok().filter(|number| *number <= TIMES_LIMIT);
    number
        .and_then(NonZeroU32::new)
        .ok_or_else(|| format!("must be 1 to {TIMES_LIMIT}"))
}

fn format(text: &str) -> Result<Format, &'static str> {
    match text {
        "text" => Ok(Format::Text),
        "json" => Ok(Format::Json),
        _ => Err("must be text or json"),
    }
}
