//! A running Envoy with one worker thread on a core of its own.

use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Failure, gateway};

/// Longest wait for the last module to be compiled.
const START: Duration = Duration::from_secs(60);

/// Ends with this value.
pub struct Envoy {
    child: Child,
    log: PathBuf,
}

impl Envoy {
    /// Starts it and waits until it listens on `port`, the last of its listeners' to be asked for.
    pub fn start(
        program: &Path,
        core: usize,
        folder: &Path,
        bootstrap: &Value,
        port: u16,
    ) -> Result<Self, Failure> {
        let file = folder.join("envoy.json");
        fs::File::create(&file)?.write_all(&serde_json::to_vec_pretty(bootstrap)?)?;
        let log = folder.join("envoy.log");
        let child = Command::new("taskset")
            .args(["-c", &core.to_string()])
            .arg(program)
            .arg("-c")
            .arg(&file)
            .args([
                "--concurrency",
                "1",
                "--disable-hot-restart",
                "-l",
                "warning",
            ])
            .env(gateway::WORKER_KEY, "the-credential-of-the-workers")
            .stdout(Stdio::null())
            .stderr(fs::File::create(&log)?)
            .spawn()?;
        let mut envoy = Self { child, log };
        envoy.wait(port)?;
        Ok(envoy)
    }

    /// Its process; `taskset` becomes Envoy.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The last lines of its log.
    pub fn last_words(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }

    fn wait(&mut self, port: u16) -> Result<(), Failure> {
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let until = Instant::now() + START;
        while TcpStream::connect(at).is_err() {
            if self.child.try_wait()?.is_some() || Instant::now() > until {
                return Err(format!("Envoy does not listen:\n{}", self.last_words()).into());
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}

impl Drop for Envoy {
    fn drop(&mut self) {
        // Nothing is left to do about an Envoy that cannot be ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// As many ports as asked for that are free now, all different.
pub fn free_ports(number: usize) -> Result<Vec<u16>, Failure> {
    let held: Vec<TcpListener> = (0..number)
        .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
        .collect::<Result<_, _>>()?;
    let port = |listener: &TcpListener| Ok(listener.local_addr()?.port());
    held.iter().map(port).collect()
}
