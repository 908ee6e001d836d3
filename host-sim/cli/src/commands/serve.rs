//! `host-sim serve`: a gateway on real sockets.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use host_sim_envoy::RenderOptions;
use host_sim_server::gateway::{CONCURRENCY_LIMIT, DEFAULT_DRAIN_TIME, Options};
use host_sim_server::logs::Level;
use host_sim_server::source::Source;
use lexopt::{Arg, Parser, ValueExt};

use super::Command;

/// Environment variable with the default of `--cache-dir`, for scripts that start many gateways.
pub const CACHE_DIR_VARIABLE: &str = "HOST_SIM_CACHE_DIR";

/// Help of the command.
pub const HELP: &str = include_str!("serve.txt");

/// Reads the arguments behind the command's name.
pub fn parse(parser: &mut Parser) -> Result<Command, lexopt::Error> {
    let mut given = Given::default();
    let mut serve = Options {
        source: Source::Envoy(PathBuf::new()),
        concurrency: None,
        admin_address_path: None,
        seed: None,
        cache_dir: std::env::var_os(CACHE_DIR_VARIABLE).map(PathBuf::from),
        log_level: Level::default(),
        access_log: None,
        watch: true,
        drain_time: DEFAULT_DRAIN_TIME,
    };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(HELP)),
            Arg::Short('c') | Arg::Long("config-path") => {
                given.envoy = Some(PathBuf::from(parser.value()?))
            }
            Arg::Short('g') | Arg::Long("gateway") => {
                given.gateway = Some(PathBuf::from(parser.value()?))
            }
            Arg::Long("listen") => given.listen = Some(parser.value()?.parse()?),
            Arg::Long("admin") => given.admin = Some(parser.value()?.parse()?),
            Arg::Long("modules") => given.modules = Some(parser.value()?.string()?),
            Arg::Long("access-log") => serve.access_log = Some(log_path(parser.value()?.string()?)),
            Arg::Long("no-watch") => serve.watch = false,
            Arg::Long("drain-time-s") => {
                serve.drain_time = Duration::from_secs(parser.value()?.parse()?)
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
    serve.source = given.source()?;
    Ok(Command::Serve(serve))
}

/// What the arguments say about the configuration.
#[derive(Default)]
struct Given {
    envoy: Option<PathBuf>,
    gateway: Option<PathBuf>,
    listen: Option<SocketAddr>,
    admin: Option<SocketAddr>,
    modules: Option<String>,
}

impl Given {
    fn source(self) -> Result<Source, &'static str> {
        let rendered = self.listen.is_some() || self.admin.is_some() || self.modules.is_some();
        match (self.envoy, self.gateway) {
            (Some(_), Some(_)) => Err("-c FILE and --gateway FILE: one of the two"),
            (None, None) => Err(
                "-c FILE is missing, the envoy.yaml to serve; or --gateway FILE, a gateway.json",
            ),
            (Some(_), None) if rendered => Err(
                "--listen, --admin and --modules go with --gateway; an envoy.yaml says all that itself",
            ),
            (Some(path), None) => Ok(Source::Envoy(path)),
            (None, Some(path)) => {
                let defaults = RenderOptions::default();
                let options = RenderOptions {
                    listen: self.listen.unwrap_or(defaults.listen),
                    admin: self.admin.unwrap_or(defaults.admin),
                    modules: self.modules.unwrap_or(defaults.modules),
                    access_log: defaults.access_log,
                };
                Ok(Source::Gateway { path, options })
            }
        }
    }
}

/// `-` is standard output.
fn log_path(path: String) -> String {
    if path == "-" {
        "/dev/stdout".to_owned()
    } else {
        path
    }
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
