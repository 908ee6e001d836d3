//! The command line.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use lexopt::{Arg, Parser, ValueExt};

use crate::logs::Level;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Print a text and end.
    Print(&'static str),
    /// Serve a configuration.
    Serve(Serve),
    /// Print the `envoy.yaml` of a `gateway.json`.
    Render(Render),
}

/// `host-sim serve`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Serve {
    /// `envoy.yaml`.
    pub config: PathBuf,
    /// Worker threads, 1 to [`CONCURRENCY_LIMIT`]; `None`: one a core.
    pub concurrency: Option<usize>,
    /// File that gets the admin address once it is bound.
    pub admin_address_path: Option<PathBuf>,
    /// All random numbers come from it; `None`: another one at each start.
    pub seed: Option<u64>,
    /// Compiled modules are kept here.
    pub cache_dir: Option<PathBuf>,
    /// Which lines of the log are shown.
    pub log_level: Level,
}

/// `host-sim render`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Render {
    /// `gateway.json`.
    pub gateway: PathBuf,
    /// Where the gateway listens.
    pub listen: Option<SocketAddr>,
    /// Where the admin endpoints listen.
    pub admin: Option<SocketAddr>,
    /// Folder of the modules.
    pub modules: Option<String>,
    /// File of the access log.
    pub access_log: Option<String>,
}

/// Most worker threads: each compiles and holds its own VMs.
pub const CONCURRENCY_LIMIT: usize = 64;

/// Environment variable with the default of `--cache-dir`, for scripts that start many gateways.
pub const CACHE_DIR_VARIABLE: &str = "HOST_SIM_CACHE_DIR";

/// Help of the program.
pub const HELP: &str = include_str!("cli/help.txt");
/// Help of `serve`.
pub const SERVE_HELP: &str = include_str!("cli/serve.txt");
/// Help of `render`.
pub const RENDER_HELP: &str = include_str!("cli/render.txt");

/// Reads the arguments behind the program's name.
///
/// # Errors
/// A sentence for the user.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Action, String> {
    let mut parser = Parser::from_args(arguments);
    let first = parser.next().map_err(|error| error.to_string())?;
    match first {
        None => Err("a command is missing: serve or render (see host-sim --help)".to_owned()),
        Some(Arg::Short('h') | Arg::Long("help")) => Ok(Action::Print(HELP)),
        Some(Arg::Long("version")) => Ok(Action::Print(concat!(
            "host-sim ",
            env!("CARGO_PKG_VERSION"),
            "\n"
        ))),
        Some(Arg::Value(name)) if name == "serve" => {
            serve(&mut parser).map_err(|error| error.to_string())
        }
        Some(Arg::Value(name)) if name == "render" => {
            render(&mut parser).map_err(|error| error.to_string())
        }
        Some(Arg::Value(name)) => Err(format!(
            "no command {:?}: serve or render (see host-sim --help)",
            name.to_string_lossy()
        )),
        Some(other) => Err(format!("{} (see host-sim --help)", other.unexpected())),
    }
}

fn serve(parser: &mut Parser) -> Result<Action, lexopt::Error> {
    let mut config = None;
    let mut serve = Serve {
        config: PathBuf::new(),
        concurrency: None,
        admin_address_path: None,
        seed: None,
        cache_dir: std::env::var_os(CACHE_DIR_VARIABLE).map(PathBuf::from),
        log_level: Level::default(),
    };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(Action::Print(SERVE_HELP)),
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
    Ok(Action::Serve(serve))
}

fn render(parser: &mut Parser) -> Result<Action, lexopt::Error> {
    let mut gateway = None;
    let (mut listen, mut admin, mut modules, mut access_log) = (None, None, None, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(Action::Print(RENDER_HELP)),
            Arg::Long("listen") => listen = Some(parser.value()?.parse()?),
            Arg::Long("admin") => admin = Some(parser.value()?.parse()?),
            Arg::Long("modules") => modules = Some(parser.value()?.string()?),
            Arg::Long("access-log") => access_log = Some(parser.value()?.string()?),
            Arg::Value(path) if gateway.is_none() => gateway = Some(PathBuf::from(path)),
            other => return Err(other.unexpected()),
        }
    }
    let gateway = gateway.ok_or("the gateway.json to render is missing")?;
    Ok(Action::Render(Render {
        gateway,
        listen,
        admin,
        modules,
        access_log,
    }))
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

#[cfg(test)]
mod tests;
