//! `control-plane --listen 127.0.0.1:9201 [--keys FILE] [--token-env NAME]`

use std::net::SocketAddr;
use std::process::ExitCode;

use control_plane::ControlPlane;
use serde_json::Value;

const USAGE: &str = "usage: control-plane --listen IP:PORT [--keys FILE] [--token-env NAME]

  --listen     where to listen; port 0 takes a free one, which is printed
  --keys       a JSON list of records as in auth.keys of gateway.json
  --token-env  environment variable with the token that it asks for";

fn main() -> ExitCode {
    match started(std::env::args().skip(1)) {
        Ok(control) => {
            println!("listening on {}", control.address());
            loop {
                std::thread::park();
            }
        }
        Err(problem) => {
            eprintln!("control-plane: {problem}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn started(mut arguments: impl Iterator<Item = String>) -> Result<ControlPlane, String> {
    let (mut listen, mut keys, mut token) = (None, Vec::new(), None);
    while let Some(flag) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--listen" => {
                let address: Result<SocketAddr, _> = value.parse();
                listen = Some(address.map_err(|_| {
                    format!("--listen: {value}: must be an IP address with a port")
                })?);
            }
            "--keys" => {
                let text =
                    std::fs::read(&value).map_err(|fault| format!("--keys: {value}: {fault}"))?;
                keys = serde_json::from_slice::<Vec<Value>>(&text)
                    .map_err(|fault| format!("--keys: {value}: must be a JSON list: {fault}"))?;
            }
            "--token-env" => {
                token = Some(
                    std::env::var(&value)
                        .map_err(|_| format!("--token-env: {value}: must be set"))?,
                );
            }
            _ => return Err(format!("{flag}: unknown argument")),
        }
    }
    let listen = listen.ok_or("--listen: missing")?;
    let control =
        ControlPlane::start(listen).map_err(|fault| format!("--listen: {listen}: {fault}"))?;
    if let Some(token) = token {
        control.want_token(&token);
    }
    if !control.edit(|table| keys.into_iter().all(|record| table.put(record))) {
        return Err("--keys: a record has no id".to_owned());
    }
    Ok(control)
}
