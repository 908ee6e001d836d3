//! `host-sim render`: the `envoy.yaml` of a `gateway.json`.

use std::net::SocketAddr;
use std::path::PathBuf;

use host_sim_envoy::RenderOptions;
use lexopt::{Arg, Parser, ValueExt};

use super::{Command, print};

/// Help of the command.
pub const HELP: &str = include_str!("render.txt");

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
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

/// Reads the arguments behind the command's name.
pub fn parse(parser: &mut Parser) -> Result<Command, lexopt::Error> {
    let mut gateway = None;
    let (mut listen, mut admin, mut modules, mut access_log) = (None, None, None, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(HELP)),
            Arg::Long("listen") => listen = Some(parser.value()?.parse()?),
            Arg::Long("admin") => admin = Some(parser.value()?.parse()?),
            Arg::Long("modules") => modules = Some(parser.value()?.string()?),
            Arg::Long("access-log") => access_log = Some(parser.value()?.string()?),
            Arg::Value(path) if gateway.is_none() => gateway = Some(PathBuf::from(path)),
            other => return Err(other.unexpected()),
        }
    }
    let gateway = gateway.ok_or("the gateway.json to render is missing")?;
    Ok(Command::Render(Options {
        gateway,
        listen,
        admin,
        modules,
        access_log,
    }))
}

/// Prints the rendered file.
///
/// # Errors
/// A sentence for the user: the document cannot be read or is refused.
pub fn run(options: &Options) -> Result<(), String> {
    let name = options.gateway.display();
    let text = std::fs::read_to_string(&options.gateway)
        .map_err(|error| format!("cannot read {name}: {error}"))?;
    let defaults = RenderOptions::default();
    let options = RenderOptions {
        listen: options.listen.unwrap_or(defaults.listen),
        admin: options.admin.unwrap_or(defaults.admin),
        modules: options.modules.clone().unwrap_or(defaults.modules),
        access_log: options.access_log.clone().unwrap_or(defaults.access_log),
    };
    let yaml =
        host_sim_envoy::render(&text, &options).map_err(|error| format!("{name}: {error}"))?;
    print(&yaml)
}
