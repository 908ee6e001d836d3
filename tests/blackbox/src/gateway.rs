//! The gateway as a child process.

use std::fs::File;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::engine::Engine;
use crate::shell::repository;

/// Longest start: compiling the modules on a busy machine.
const START_PATIENCE: Duration = Duration::from_secs(60);
/// Longest end: requests that are under way are not waited for.
const END_PATIENCE: Duration = Duration::from_secs(2);
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
    /// Lines of its log below this level are dropped.
    pub(crate) log_level: &'a str,
    /// Listening there means that it is up.
    pub(crate) listen: SocketAddr,
}

/// A running gateway, ended when dropped. Shows what it wrote if the test fails.
pub(crate) struct Gateway {
    child: Child,
    output: PathBuf,
}

impl Gateway {
    /// Starts it and waits until it listens.
    pub(crate) fn start(launch: &Launch<'_>) -> Self {
        let mut gateway = Self::spawn(launch);
        if let Some(status) = gateway.ended_before_listening(launch.listen) {
            panic!("the gateway ended at its start: {status}");
        }
        gateway
    }

    /// What it wrote, when it is expected to end at its start.
    pub(crate) fn refuse(launch: &Launch<'_>) -> String {
        let mut gateway = Self::spawn(launch);
        let ended = gateway.ended_before_listening(launch.listen);
        assert!(ended.is_some(), "the gateway started");
        gateway.output()
    }

    fn spawn(launch: &Launch<'_>) -> Self {
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
            launch.log_level,
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
        Self { child, output }
    }

    /// Whether the process still runs.
    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to end, so that it writes down what it still has to, and waits for that.
    pub(crate) fn end(&mut self) {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid.filter(|_| self.is_running()) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let until = Instant::now() + END_PATIENCE;
        while self.is_running() && Instant::now() < until {
            std::thread::sleep(PAUSE);
        }
    }

    /// What it wrote to its standard streams.
    pub(crate) fn output(&self) -> String {
        std::fs::read(&self.output)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    /// Its status if it ended instead.
    fn ended_before_listening(&mut self, address: SocketAddr) -> Option<ExitStatus> {
        let until = Instant::now() + START_PATIENCE;
        while TcpStream::connect(address).is_err() {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            assert!(
                Instant::now() < until,
                "the gateway does not listen on {address}"
            );
            std::thread::sleep(PAUSE);
        }
        None
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
