//! The commands: a module each.

pub mod bench;
pub mod check;
pub mod keys;
pub mod render;
pub mod run;
pub mod serve;
pub mod swarm;
pub mod trace;

use host_sim_server::gateway;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Print a text and end.
    Print(&'static str),
    /// Serve a configuration.
    Serve(gateway::Options),
    /// Run scenarios.
    Run(run::Options),
    /// Print the `envoy.yaml` of a `gateway.json`.
    Render(render::Options),
    /// Explain a request.
    Trace(Box<trace::Options>),
    /// Count instructions.
    Bench(bench::Options),
    /// Run random deployments.
    Swarm(swarm::Options),
    /// Say what is wrong with a configuration.
    Check(check::Options),
    /// Make a key, or the digest of one.
    Keys(keys::Options),
}

/// Why a command did not do what it was asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Exit code of the program.
    pub code: u8,
    /// A sentence for the user.
    pub message: String,
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure { code: 1, message }
    }
}

impl Command {
    /// Does it, and says with which code the program ends.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn run(&self) -> Result<u8, Failure> {
        match self {
            Command::Print(text) => print(text)?,
            Command::Serve(options) => gateway::serve(options)?,
            Command::Render(options) => render::run(options)?,
            Command::Trace(options) => trace::run(options)?,
            Command::Bench(options) => bench::run(options)?,
            Command::Swarm(options) => swarm::run(options)?,
            Command::Check(options) => return check::run(options),
            Command::Keys(options) => keys::run(options)?,
            Command::Run(options) => run::run(options)?,
        }
        Ok(0)
    }
}

/// Writes to standard output. A reader that leaves early (`| head`) is no error.
///
/// # Errors
/// Standard output cannot be written.
pub fn print(text: &str) -> Result<(), String> {
    use std::io::Write;
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write: {error}"))
        }
        _ => Ok(()),
    }
}
