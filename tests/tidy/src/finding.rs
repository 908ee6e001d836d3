//! What a rule reports.

use std::fmt;

/// One place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file or folder, from the root of the project.
    pub path: String,
    /// The line in that file, counted from 1; none when the finding is about the whole file.
    pub line: Option<usize>,
    /// What is wrong and what to do.
    pub reason: String,
}

impl Finding {
    /// A finding about a whole file or folder.
    pub fn at(path: impl Into<String>, reason: impl Into<String>) -> Finding {
        Finding {
            path: path.into(),
            line: None,
            reason: reason.into(),
        }
    }

    /// A finding about one line, counted from 1.
    pub fn on_line(path: impl Into<String>, line: usize, reason: impl Into<String>) -> Finding {
        Finding {
            path: path.into(),
            line: Some(line),
            reason: reason.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "{}:{line}: {}", self.path, self.reason),
            None => write!(out, "{}: {}", self.path, self.reason),
        }
    }
}
