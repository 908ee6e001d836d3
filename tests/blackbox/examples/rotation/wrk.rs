//! Clients: one `wrk` a role, with the key that a file names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use blackbox::World;
use blackbox::shell::repository;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Longest run of a `wrk`, in seconds: it is ended long before.
const LONGEST_S: u32 = 3600;

/// What clients counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    figures: BTreeMap<String, u64>,
    /// An answer that was neither 200 nor 401.
    pub(crate) other: Option<String>,
}

impl Counted {
    /// A figure of `client.lua`.
    pub(crate) fn get(&self, name: &str) -> u64 {
        self.figures.get(name).copied().unwrap_or_default()
    }
}

/// Clients that are asking.
pub(crate) struct Clients {
    child: Child,
    key: PathBuf,
    /// Of the key's file: not the world's, which looks for keys in its own.
    _folder: TempDir,
}

/// How they ask.
pub(crate) struct Manner {
    pub(crate) connections: u32,
    /// Between two requests of a connection, in milliseconds.
    pub(crate) pause_ms: u32,
}

impl Clients {
    /// Starts them with a key.
    pub(crate) fn start(world: &World, role: &str, manner: &Manner, key: (u32, &str)) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the key");
        let file = folder.path().join("key");
        write(&file, key);
        let script = repository().join("tests/blackbox/examples/rotation/client.lua");
        let child = Command::new("wrk")
            .args(["--threads", "1", "--timeout", "10s", "--duration"])
            .arg(format!("{LONGEST_S}s"))
            .args(["--connections", &manner.connections.to_string()])
            .arg("--script")
            .arg(script)
            .arg(format!("http://{}", world.address()))
            .args(["--", role])
            .arg(&file)
            .arg(manner.pause_ms.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("wrk runs: install it (Debian: wrk)");
        Self {
            child,
            key: file,
            _folder: folder,
        }
    }

    /// Has them show another key from now on.
    pub(crate) fn switch(&self, key: (u32, &str)) {
        write(&self.key, key);
    }

    /// Ends them; what they counted.
    pub(crate) fn stop(self) -> Counted {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process id"), Signal::INT).expect("wrk runs still");
        let output = self.child.wait_with_output().expect("wrk ends");
        counted(&String::from_utf8_lossy(&output.stdout))
    }
}

/// By rename, so that nobody reads half of it.
fn write(file: &Path, (generation, key): (u32, &str)) {
    let new = file.with_extension("new");
    fs::write(&new, format!("{generation} {key}\n")).expect("the folder can be written");
    fs::rename(&new, file).expect("the folder can be written");
}

fn counted(output: &str) -> Counted {
    let mut counted = Counted::default();
    for line in output
        .lines()
        .filter_map(|line| line.strip_prefix("drill "))
    {
        match line.split_once(' ') {
            Some(("other", answer)) => counted.other = Some(answer.to_owned()),
            Some((name, value)) => {
                let value = value.parse().expect("a number");
                counted.figures.insert(name.to_owned(), value);
            }
            None => {}
        }
    }
    assert!(!counted.figures.is_empty(), "wrk counted nothing: {output}");
    counted
}
