//! `host-sim serve`: a gateway on real sockets.

use std::path::PathBuf;

use host_sim_server::gateway::{CONCURRENCY_LIMIT, Options};
use host_sim_server::logs::Level;
use lexopt::{Arg, Parser, ValueExt};

use super::Command;

/// Environment variable with the default of `--cache-dir`, for scripts that start many gateways.
pub const CACHE_DIR_VARIABLE: &str = "HOST_SIM_CACHE_DIR";

/// Help of the command.
pub const HELP: &str = include_str!("serve.txt");

/// Reads the arguments behind the command's name.
pub fn parse(parser: &mut Parser) -> Result<Command, lexopt::Error> {
    let mut config = None;
    let mut serve = Options {
        config: PathBuf::new(),
        concurrency: None,
        admin_address_path: None,
        seed: None,
        cache_dir: std::env::var_os(CACHE_DIR_VARIABLE).map(PathBuf::from),
        log_level: Level::default(),
    };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(HELP)),
            Arg::Short('c') | Arg::Long("config-path") => {
                config = Some(PathBuf::from(parser.value()?))
            }
            Arg::Long("concurrency") => {
                serve.concurrency = Some(parser.value()?.parse_with(concurrency)?)
            }
            Arg::Long("admin-address-path") => {
                serve.admin_address_path = Some(parser.value()?.into())
            }
            Arg::Long("seed") => serve.seed = Some(parser.value()?.parse()?),
            Arg::Long("cache-dir") => serve.cache_dir = Some(parser.value()?.into()),
            Arg::Short('l') | Arg::Long("log-level") => {
                serve.log_level = parser.value()?.parse_with(level)?
            }
            // Envoy's own, without meaning here: lines are written at once, nothing restarts hot.
            Arg::Long("file-flush-interval-msec") => {
                let _: u64 = parser.value()?.parse()?;
            }
            Arg::Long("disable-hot-restart") => {}
            other => return Err(other.unexpected()),
        }
    }
    serve.config = config.ok_or("-c FILE is missing: the envoy.yaml to serve")?;
    Ok(Command::Serve(serve))
}

fn concurrency(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=CONCURRENCY_LIMIT) => Ok(count),
        _ => Err(format!("must be 1 to {CONCURRENCY_LIMIT}")),
    }
}

fn level(text: &str) -> Result<Level, String> {
    Level::named(text)
        .ok_or_else(|| "must be trace, debug, info, warning, error, critical or off".to_owned())
}
