//! The commands: a module each.

pub mod bench;
pub mod render;
pub mod serve;

use host_sim_server::gateway;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Print a text and end.
    Print(&'static str),
    /// Serve a configuration.
    Serve(gateway::Options),
    /// Print the `envoy.yaml` of a `gateway.json`.
    Render(render::Options),
    /// Count instructions.
    Bench(bench::Options),
}

impl Command {
    /// Does it.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn run(&self) -> Result<(), String> {
        match self {
            Command::Print(text) => print(text),
            Command::Serve(options) => gateway::serve(options),
            Command::Render(options) => render::run(options),
            Command::Bench(options) => bench::run(options),
        }
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
