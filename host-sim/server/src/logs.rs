//! Where log lines go: access logs to their files, everything else to standard error.

use std::collections::HashMap;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
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

    /// Number of the colour on a terminal; lines of no importance have none.
    fn colour(self) -> Option<u8> {
        match self {
            Level::Trace | Level::Debug => Some(90),
            Level::Info | Level::Off => None,
            Level::Warning => Some(33),
            Level::Error | Level::Critical => Some(31),
        }
    }
}

/// Which lines are shown, for all threads of a process; it can be changed while they run.
#[derive(Clone, Debug)]
pub struct Threshold(Arc<AtomicU8>);

impl Threshold {
    /// Lines below `level` are dropped.
    #[must_use]
    pub fn new(level: Level) -> Self {
        Threshold(Arc::new(AtomicU8::new(level as u8)))
    }

    /// From now on another one.
    pub fn set(&self, level: Level) {
        self.0.store(level as u8, Ordering::Relaxed);
    }

    fn shows(&self, level: Level) -> bool {
        level as u8 >= self.0.load(Ordering::Relaxed)
    }
}

/// Most files of access logs that stay open on a thread; a configuration names a handful.
const OPEN_FILES_LIMIT: usize = 64;

/// The logs of one thread. Lines are appended with one write each, so threads do not mix them.
#[derive(Debug)]
pub struct Logs {
    threshold: Threshold,
    colours: bool,
    files: HashMap<String, File>,
}

impl Logs {
    /// Lines below the threshold are dropped. Levels have colours where a person reads.
    #[must_use]
    pub fn new(threshold: Threshold) -> Self {
        Logs {
            threshold,
            colours: std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
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
        let known = Level::named(level).unwrap_or(Level::Critical);
        if self.threshold.shows(known) {
            let line = line(wall, known, level, text, self.colours);
            let _ = std::io::stderr().lock().write_all(line.as_bytes());
        }
    }
}

/// `[2026-11-29 22:10:11.123][warning] text`.
fn line(wall: Duration, level: Level, name: &str, text: &str, colours: bool) -> String {
    let date = date_text(wall);
    match level.colour().filter(|_| colours) {
        Some(colour) => format!("[{date}][\x1b[{colour}m{name}\x1b[0m] {text}\n"),
        None => format!("[{date}][{name}] {text}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_has_a_colour_only_where_a_person_reads() {
        let plain = line(Duration::ZERO, Level::Warning, "warning", "odd", false);
        let coloured = line(Duration::ZERO, Level::Warning, "warning", "odd", true);
        assert_eq!(plain, "[1970-01-01 00:00:00.000][warning] odd\n");
        assert_eq!(
            coloured,
            "[1970-01-01 00:00:00.000][\x1b[33mwarning\x1b[0m] odd\n"
        );
    }

    #[test]
    fn the_threshold_can_be_moved_while_lines_are_written() {
        let threshold = Threshold::new(Level::Info);
        assert!(!threshold.shows(Level::Debug));
        threshold.set(Level::Debug);
        assert!(threshold.shows(Level::Debug));
        threshold.set(Level::Off);
        assert!(!threshold.shows(Level::Critical));
    }
}
