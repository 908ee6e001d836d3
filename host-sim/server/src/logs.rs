//! Where log lines go: access logs to their files, everything else to standard error.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::time::Duration;

use crate::clock::date_text;

/// How much a line matters, with Envoy's names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Everything.
    Trace,
    /// For who looks for a fault.
    Debug,
    /// Envoy's default.
    #[default]
    Info,
    /// Something is odd.
    Warning,
    /// Something failed.
    Error,
    /// Something is broken for good.
    Critical,
    /// Above all lines.
    Off,
}

impl Level {
    /// By Envoy's name, as in `--log-level`; `warn` is a `warning` too.
    #[must_use]
    pub fn named(name: &str) -> Option<Level> {
        Some(match name {
            "trace" => Level::Trace,
            "debug" => Level::Debug,
            "info" => Level::Info,
            "warning" | "warn" => Level::Warning,
            "error" => Level::Error,
            "critical" => Level::Critical,
            "off" => Level::Off,
            _ => return None,
        })
    }
}

/// Most files of access logs that stay open on a thread; a configuration names a handful.
const OPEN_FILES_LIMIT: usize = 64;

/// The logs of one thread. Lines are appended with one write each, so threads do not mix them.
#[derive(Debug)]
pub struct Logs {
    level: Level,
    files: HashMap<String, File>,
}

impl Logs {
    /// Lines below `level` are dropped.
    #[must_use]
    pub fn new(level: Level) -> Self {
        Logs {
            level,
            files: HashMap::new(),
        }
    }

    /// Appends a line to an access log. A file that cannot be written is said once a line on
    /// standard error: requests go on.
    pub fn access(&mut self, path: &str, line: &str) {
        let text = format!("{line}\n");
        let result = match path {
            "/dev/stdout" => std::io::stdout().lock().write_all(text.as_bytes()),
            "/dev/stderr" => std::io::stderr().lock().write_all(text.as_bytes()),
            _ => self
                .file(path)
                .and_then(|file| file.write_all(text.as_bytes())),
        };
        if let Err(error) = result {
            self.files.remove(path);
            // Standard error is all that is left; if it is closed too, there is nobody to tell.
            let _ = writeln!(
                std::io::stderr(),
                "host-sim: cannot write to the access log {path}: {error}"
            );
        }
    }

    fn file(&mut self, path: &str) -> std::io::Result<&mut File> {
        if !self.files.contains_key(path) {
            if self.files.len() >= OPEN_FILES_LIMIT {
                self.files.clear();
            }
            let file = File::options().append(true).create(true).open(path)?;
            self.files.insert(path.to_owned(), file);
        }
        self.files
            .get_mut(path)
            .ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }

    /// A line of the host or of a guest.
    pub fn log(&self, wall: Duration, level: &str, text: &str) {
        if Level::named(level).unwrap_or(Level::Critical) >= self.level {
            let _ = writeln!(std::io::stderr(), "[{}][{level}] {text}", date_text(wall));
        }
    }
}
