//! The `host-sim` program: which command, and what a failure looks like.

mod commands;

use std::ffi::OsString;

use lexopt::{Arg, Parser};

use commands::{Command, Failure, bench, check, keys, render, run, serve, swarm, trace};

/// Help of the program.
const HELP: &str = include_str!("help.txt");

/// Names of all commands, for messages.
const COMMANDS: &str = "serve, run, render, check, trace, bench, swarm or keys";

/// Exit code when the command line makes no sense.
const USAGE: u8 = 2;

fn main() {
    let command = parse(std::env::args_os().skip(1)).map_err(|message| Failure {
        code: USAGE,
        message,
    });
    let code = match command.and_then(|command| command.run()) {
        Ok(code) => code,
        Err(Failure { code, message }) => {
            eprintln!("host-sim: {message}");
            code
        }
    };
    // Worker threads still run; they hold nothing that needs an orderly end.
    std::process::exit(code.into())
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
        Some("run") => run::parse(&mut parser),
        Some("render") => render::parse(&mut parser),
        Some("trace") => trace::parse(&mut parser),
        Some("swarm") => swarm::parse(&mut parser),
        Some("bench") => bench::parse(&mut parser),
        Some("check") => check::parse(&mut parser),
        Some("keys") => keys::parse(&mut parser),
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
