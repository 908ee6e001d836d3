//! The gateway as a child process.

use std::fs::File;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::engine::Engine;
use crate::shell::repository;

/// Longest start: compiling the modules on a busy machine.
const START_PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(10);

/// What to start.
pub(crate) struct Launch<'a> {
    pub(crate) engine: Engine,
    /// The YAML.
    pub(crate) config: &'a Path,
    /// Where logs go.
    pub(crate) folder: &'a Path,
    pub(crate) concurrency: u32,
    pub(crate) environment: &'a [(String, String)],
    pub(crate) arguments: &'a [String],
    /// Listening there means that it is up.
    pub(crate) listen: SocketAddr,
}

/// A running gateway, ended when dropped. Shows what it wrote if the test fails.
pub(crate) struct Gateway {
    child: Child,
    output: PathBuf,
}

impl Gateway {
    pub(crate) fn start(launch: &Launch<'_>) -> Self {
        let output = launch.folder.join("gateway.log");
        let file = File::create(&output).expect("the test's folder can be written");
        let copy = file.try_clone().expect("the file is open");
        let program = launch.engine.program();
        let mut command = Command::new(&program);
        if launch.engine == Engine::HostSim {
            // Compiling the modules takes longer than all the rest of a start.
            let cache = repository().join("target/host-sim-cache");
            command.arg("serve").arg("--cache-dir").arg(cache);
        }
        // Shared memory of a hot restart would be shared by all Envoys of the machine.
        command.args([
            "--disable-hot-restart",
            "--file-flush-interval-msec",
            "50",
            "-l",
            "warning",
        ]);
        command
            .arg("-c")
            .arg(launch.config)
            .args(["--concurrency", &launch.concurrency.to_string()])
            .arg("--admin-address-path")
            .arg(launch.folder.join("admin-address"))
            .args(launch.arguments)
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(copy);
        let child = command
            .spawn()
            .unwrap_or_else(|problem| panic!("starting {}: {problem}", program.display()));
        let mut gateway = Self { child, output };
        gateway.wait_until_listening(launch.listen);
        gateway
    }

    /// Whether the process still runs.
    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it wrote to its standard streams.
    pub(crate) fn output(&self) -> String {
        std::fs::read(&self.output)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    fn wait_until_listening(&mut self, address: SocketAddr) {
        let until = Instant::now() + START_PATIENCE;
        while TcpStream::connect(address).is_err() {
            if let Ok(Some(status)) = self.child.try_wait() {
                panic!("the gateway ended at its start: {status}");
            }
            assert!(
                Instant::now() < until,
                "the gateway does not listen on {address}"
            );
            std::thread::sleep(PAUSE);
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- what the gateway wrote ---\n{}---", self.output());
        }
    }
}
