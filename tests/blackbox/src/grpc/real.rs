//! `tests/clients/grpc_server.py`, a server with `grpcio`.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};

use crate::shell::repository;

/// A server that is up; it ends with this value.
pub struct Real {
    child: Child,
    address: SocketAddr,
}

impl Real {
    /// Starts a server on a free port.
    ///
    /// # Panics
    /// When there is no python3, or no `grpcio` (`scripts/install-clients`).
    #[must_use]
    pub fn start() -> Self {
        let clients = repository().join(".tools/clients");
        assert!(
            clients.join("grpc").is_dir(),
            "there is no grpcio: run scripts/install-clients first"
        );
        let mut child = Command::new("python3")
            .arg(repository().join("tests/clients/grpc_server.py"))
            .env("PYTHONPATH", clients)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a python3");
        let output = child.stdout.take().expect("its output is a pipe");
        let mut line = String::new();
        BufReader::new(output)
            .read_line(&mut line)
            .expect("it can be read");
        let port = line.trim().strip_prefix("listening ");
        let port = port.and_then(|port| port.parse().ok());
        Self {
            child,
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port.expect("it says its port"))),
        }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        // It ends with its input, but nothing waits for that.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
