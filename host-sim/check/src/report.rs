//! The findings as people and as programs read them.

use std::fmt::Write as _;

use serde_json::json;

use crate::finding::{Finding, Severity};

/// Version of the JSON form; another one if a field changes its meaning or goes.
pub const VERSION: u32 = 1;

/// What came of a check.
#[derive(Clone, Debug)]
pub struct Report {
    files: Vec<String>,
    findings: Vec<Finding>,
}

impl Report {
    pub(crate) fn new(files: Vec<String>, findings: Vec<Finding>) -> Self {
        Report { files, findings }
    }

    /// The findings, by file and line.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Warnings become errors.
    #[must_use]
    pub fn strict(mut self) -> Self {
        for finding in &mut self.findings {
            finding.severity = Severity::Error;
        }
        self
    }

    /// How many findings of a kind there are.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count()
    }

    /// A finding a paragraph, then the sum.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        for finding in &self.findings {
            let kind = match finding.severity {
                Severity::Error => "",
                Severity::Warning => "warning: ",
            };
            let path = if finding.path.is_empty() {
                "file"
            } else {
                &finding.path
            };
            let Finding {
                file,
                line,
                what,
                fix,
                rule,
                ..
            } = finding;
            // Writing to a string does not fail.
            let _ = writeln!(out, "{file}:{line}: {path}: {kind}{what} [{rule}]");
            if !fix.is_empty() {
                let _ = writeln!(out, "    {fix}");
            }
        }
        let (errors, warnings) = (self.count(Severity::Error), self.count(Severity::Warning));
        let files = self.files.join(", ");
        let _ = match (errors, warnings) {
            (0, 0) => writeln!(out, "{files}: no problems"),
            _ => writeln!(
                out,
                "{files}: {}, {}",
                counted(errors, "error"),
                counted(warnings, "warning")
            ),
        };
        out
    }

    /// One JSON object and a line end; its form is in the README.
    #[must_use]
    pub fn json(&self) -> String {
        let findings: Vec<_> = self
            .findings
            .iter()
            .map(|finding| {
                json!({
                    "severity": finding.severity.name(),
                    "file": finding.file,
                    "line": finding.line,
                    "path": finding.path,
                    "rule": finding.rule,
                    "what": finding.what,
                    "fix": finding.fix,
                })
            })
            .collect();
        let report = json!({
            "version": VERSION,
            "files": self.files,
            "errors": self.count(Severity::Error),
            "warnings": self.count(Severity::Warning),
            "findings": findings,
        });
        format!("{report:#}\n")
    }
}

fn counted(count: usize, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}
