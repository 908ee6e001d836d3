//! `mock-worker --listen 127.0.0.1:9101 --id w1 [--model NAME]... [--key-env NAME]`

use std::net::SocketAddr;
use std::process::ExitCode;

use mock_worker::{MockWorker, Settings};

const USAGE: &str = "usage: mock-worker --listen IP:PORT --id ID [--model NAME]... [--key-env NAME]

  --listen   where to listen; port 0 takes a free one, which is printed
  --id       appears in every answer: \"hello from ID\"
  --model    a name it serves, may be repeated; without it every name is served
  --key-env  environment variable with the key that /v1/ asks for";

struct Options {
    listen: SocketAddr,
    settings: Settings,
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("mock-worker: {problem}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match MockWorker::start(options.listen, options.settings) {
        Ok(worker) => {
            println!("listening on {}", worker.address());
            loop {
                std::thread::park();
            }
        }
        Err(problem) => {
            eprintln!(
                "mock-worker: cannot listen on {}: {problem}",
                options.listen
            );
            ExitCode::FAILURE
        }
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut listen = None;
    let mut settings = Settings::default();
    while let Some(flag) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or_else(|| format!("{flag} needs a value"))
        };
        match flag.as_str() {
            "--listen" => {
                let value = value()?;
                listen =
                    Some(value.parse().map_err(|_| {
                        format!("--listen: {value}: not an IP address with a port")
                    })?);
            }
            "--id" => settings.id = value()?,
            "--model" => settings.models.push(value()?),
            "--key-env" => {
                let name = value()?;
                let key =
                    std::env::var(&name).map_err(|_| format!("--key-env: {name} is not set"))?;
                settings.key = Some(key);
            }
            _ => return Err(format!("unknown argument {flag}")),
        }
    }
    let listen = listen.ok_or("--listen is missing")?;
    if settings.id.is_empty() {
        return Err("--id is missing".to_owned());
    }
    Ok(Options { listen, settings })
}
