//! The `host-sim` program: which command, and what a failure looks like.

mod commands;

use std::ffi::OsString;
use std::process::ExitCode;

use lexopt::{Arg, Parser};

use commands::{Command, bench, render, serve};

/// Help of the program.
const HELP: &str = include_str!("help.txt");

/// Names of all commands, for messages.
const COMMANDS: &str = "serve, render or bench";

fn main() -> ExitCode {
    let result = parse(std::env::args_os().skip(1)).and_then(|command| command.run());
    match result {
        // Worker threads still run; they hold nothing that needs an orderly end.
        Ok(()) => std::process::exit(0),
        Err(error) => {
            eprintln!("host-sim: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Reads the arguments behind the program's name.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
    let mut parser = Parser::from_args(arguments);
    let first = parser.next().map_err(|error| error.to_string())?;
    let name = match first {
        None => {
            return Err(format!(
                "a command is missing: {COMMANDS} (see host-sim --help)"
            ));
        }
        Some(Arg::Short('h') | Arg::Long("help")) => return Ok(Command::Print(HELP)),
        Some(Arg::Long("version")) => {
            let version = concat!("host-sim ", env!("CARGO_PKG_VERSION"), "\n");
            return Ok(Command::Print(version));
        }
        Some(Arg::Value(name)) => name,
        Some(other) => return Err(format!("{} (see host-sim --help)", other.unexpected())),
    };
    let command = match name.to_str() {
        Some("serve") => serve::parse(&mut parser),
        Some("render") => render::parse(&mut parser),
        Some("bench") => bench::parse(&mut parser),
        _ => {
            return Err(format!(
                "no command {:?}: {COMMANDS} (see host-sim --help)",
                name.to_string_lossy()
            ));
        }
    };
    command.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
