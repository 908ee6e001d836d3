//! The `host-sim` program.

use std::process::ExitCode;

use host_sim::cli::{self, Action, Render};
use host_sim::gateway;
use host_sim_envoy::RenderOptions;

fn main() -> ExitCode {
    let result = match cli::parse(std::env::args_os().skip(1)) {
        Ok(Action::Print(text)) => print(text),
        Ok(Action::Render(options)) => render(&options).and_then(|yaml| print(&yaml)),
        Ok(Action::Serve(options)) => gateway::serve(&options),
        Err(error) => Err(error),
    };
    match result {
        // Worker threads still run; they hold nothing that needs an orderly end.
        Ok(()) => std::process::exit(0),
        Err(error) => {
            eprintln!("host-sim: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A reader that leaves early (`| head`) is no error.
fn print(text: &str) -> Result<(), String> {
    use std::io::Write;
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write: {error}"))
        }
        _ => Ok(()),
    }
}

fn render(options: &Render) -> Result<String, String> {
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
    host_sim_envoy::render(&text, &options).map_err(|error| format!("{name}: {error}"))
}
