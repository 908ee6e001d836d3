//! The access log, read while the gateway writes it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Longest wait for a line. Envoy writes its buffer every 50 ms here.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(10);

/// A file of JSON lines.
#[derive(Debug)]
pub struct AccessLog {
    pub(crate) path: PathBuf,
}

impl AccessLog {
    /// All whole lines up to now.
    ///
    /// # Panics
    /// When a line is not JSON.
    #[must_use]
    pub fn lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        text.split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|problem| panic!("{problem} in {line:?}"))
            })
            .collect()
    }

    /// The line of a request; waits for it.
    ///
    /// # Panics
    /// When it does not come.
    #[must_use]
    pub fn request(&self, request_id: &str) -> Value {
        self.wait(|line| line["request_id"] == request_id && line["log"] != "attempt")
    }

    /// The lines of a request's attempts. They are written before the request's own line, which
    /// this waits for.
    ///
    /// # Panics
    /// When it does not come.
    #[must_use]
    pub fn attempts(&self, request_id: &str) -> Vec<Value> {
        let _ = self.request(request_id);
        let mine = |line: &Value| line["request_id"] == request_id && line["log"] == "attempt";
        self.lines().into_iter().filter(mine).collect()
    }

    /// The first line of which this is true; waits for it.
    ///
    /// # Panics
    /// When it does not come.
    #[must_use]
    pub fn wait(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let lines = self.lines();
            if let Some(line) = lines.iter().find(|line| wanted(line)) {
                return line.clone();
            }
            assert!(
                Instant::now() < until,
                "the line did not come; there are {lines:#?}"
            );
            std::thread::sleep(PAUSE);
        }
    }
}
