//! `host-sim keys`: a fresh API key with its record, and the digest of a key.

mod key;
mod record;

use std::io::Read;

use lexopt::{Arg, Parser, ValueExt};
use serde_json::json;

use super::{Command, print};
use key::Key;
use record::Record;

/// Help of the command.
pub const HELP: &str = include_str!("keys.txt");

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Options {
    /// A fresh key.
    New(New),
    /// The digest of the key on standard input.
    Digest,
}

/// A fresh key for a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct New {
    record: Record,
    format: Format,
}

/// How key and record are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// The key, an empty line, the record.
    Text,
    /// One object of both.
    Json,
}

/// Reads the arguments behind the command's name.
pub fn parse(parser: &mut Parser) -> Result<Command, lexopt::Error> {
    match parser.next()? {
        None => Err("what to do with keys is missing: new or digest".into()),
        Some(Arg::Short('h') | Arg::Long("help")) => Ok(Command::Print(HELP)),
        Some(Arg::Value(name)) => match name.to_str() {
            Some("new") => new(parser),
            Some("digest") => digest(parser),
            _ => Err(format!(
                "keys has no {:?}: it has new and digest",
                name.to_string_lossy()
            )
            .into()),
        },
        Some(other) => Err(other.unexpected()),
    }
}

fn new(parser: &mut Parser) -> Result<Command, lexopt::Error> {
    let (mut record, mut format) = (Record::default(), Format::Text);
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(HELP)),
            Arg::Long("format") => format = parser.value()?.parse_with(read_format)?,
            Arg::Long(flag) => {
                let Some(field) = record::field(flag) else {
                    return Err(argument.unexpected());
                };
                record.set(field, parser.value()?.string()?)?;
            }
            other => return Err(other.unexpected()),
        }
    }
    record.check()?;
    Ok(Command::Keys(Options::New(New { record, format })))
}

/// A key on the command line would be in the shell's history and in the list of processes.
fn digest(parser: &mut Parser) -> Result<Command, lexopt::Error> {
    match parser.next()? {
        None => Ok(Command::Keys(Options::Digest)),
        Some(Arg::Short('h') | Arg::Long("help")) => Ok(Command::Print(HELP)),
        Some(Arg::Value(_)) => Err(
            "keys digest reads the key from standard input: on the command line others can see it"
                .into(),
        ),
        Some(other) => Err(other.unexpected()),
    }
}

fn read_format(text: &str) -> Result<Format, &'static str> {
    match text {
        "text" => Ok(Format::Text),
        "json" => Ok(Format::Json),
        _ => Err("must be text or json"),
    }
}

/// Does it.
///
/// # Errors
/// A sentence for the user: no randomness, or what was read is no key. It never holds the key.
pub fn run(options: &Options) -> Result<(), String> {
    match options {
        Options::New(new) => make(new),
        Options::Digest => {
            let mut text = Vec::new();
            std::io::stdin()
                .take(key::MAX_READ_BYTES)
                .read_to_end(&mut text)
                .map_err(|error| format!("cannot read standard input: {error}"))?;
            print(&format!("{}\n", Key::read(&text)?.sha256()))
        }
    }
}

fn make(new: &New) -> Result<(), String> {
    let key = Key::fresh()?;
    let record = new.record.with_digest(&key.sha256());
    match new.format {
        Format::Json => print(&format!(
            "{:#}\n",
            json!({"key": key.secret(), "record": record})
        )),
        Format::Text => {
            print(&format!("{}\n\n{record:#}\n", key.secret()))?;
            // Apart from what a pipe takes on.
            eprintln!(
                "host-sim: the key is on the first line and is kept nowhere; the gateway needs the record alone"
            );
            Ok(())
        }
    }
}
