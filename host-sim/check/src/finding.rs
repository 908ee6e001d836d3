//! What is found, and how it is noted.

use dragoman_config::ConfigError;
use host_sim_envoy::Place;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The gateway does not start, or does not do what it is for.
    Error,
    /// It works, and something about it will hurt.
    Warning,
}

impl Severity {
    /// `error` or `warning`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The file, as it was named.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// Where in the file; empty for the file itself.
    pub path: String,
    /// Name of the rule; stable.
    pub rule: &'static str,
    /// What is wrong, why, and what comes of it.
    pub what: String,
    /// What to do.
    pub fix: String,
}

/// Most findings of one file: a file for something else has one at nearly every line.
pub const MAX_FINDINGS: usize = 200;

/// The findings of one file.
pub struct Notes {
    file: String,
    findings: Vec<Finding>,
}

/// Line of a field, or of the innermost one on the way to it that is there.
fn nearest(parent: &Place<'_>, field: &str) -> usize {
    let mut place = parent.clone();
    for key in field.split('.') {
        match place.field(key) {
            Some(inner) => place = inner,
            None => break,
        }
    }
    place.line()
}

impl Notes {
    pub fn new(file: &str) -> Self {
        Notes {
            file: file.to_owned(),
            findings: Vec::new(),
        }
    }

    /// An error at a place.
    pub fn error(
        &mut self,
        rule: &'static str,
        at: &Place<'_>,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.add(
            Severity::Error,
            rule,
            at.line(),
            at.path().to_owned(),
            what,
            fix,
        );
    }

    /// A warning at a place.
    pub fn warning(
        &mut self,
        rule: &'static str,
        at: &Place<'_>,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.add(
            Severity::Warning,
            rule,
            at.line(),
            at.path().to_owned(),
            what,
            fix,
        );
    }

    /// An error about a field: at its place if it is there, else at the one it is missing from.
    pub fn error_in(
        &mut self,
        rule: &'static str,
        parent: &Place<'_>,
        field: &str,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.add_in(Severity::Error, rule, parent, field, what, fix);
    }

    /// A warning about a field, likewise.
    pub fn warning_in(
        &mut self,
        rule: &'static str,
        parent: &Place<'_>,
        field: &str,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.add_in(Severity::Warning, rule, parent, field, what, fix);
    }

    /// A fault of the gateway's own document, in its own words.
    pub fn document_fault(&mut self, line: usize, fault: &ConfigError) {
        let what = match &fault.value {
            Some(value) => format!("{value}: {}", fault.reason),
            None => fault.reason.clone(),
        };
        let fix = "every field with its bounds: filters/core/config/README.md";
        self.add(
            Severity::Error,
            "gateway-document",
            line,
            fault.path.clone(),
            what,
            fix,
        );
    }

    fn add_in(
        &mut self,
        severity: Severity,
        rule: &'static str,
        parent: &Place<'_>,
        field: &str,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) {
        let line = nearest(parent, field);
        self.add(severity, rule, line, parent.path_of(field), what, fix);
    }

    pub fn add(
        &mut self,
        severity: Severity,
        rule: &'static str,
        line: usize,
        path: String,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) {
        let finding = Finding {
            severity,
            file: self.file.clone(),
            line,
            path,
            rule,
            what: what.into(),
            fix: fix.into(),
        };
        // What several aliases stand for is wrong once.
        let same = |other: &Finding| {
            (other.line, other.rule, &other.what) == (finding.line, finding.rule, &finding.what)
        };
        if self.findings.len() < MAX_FINDINGS && !self.findings.iter().any(same) {
            self.findings.push(finding);
        }
    }

    /// Whether something is there that keeps the gateway from working.
    pub fn has_errors(&self) -> bool {
        self.findings
            .iter()
            .any(|finding| finding.severity == Severity::Error)
    }

    /// Adds to what a rule found at a line; whether there is such a finding.
    pub fn amend(&mut self, rule: &str, line: usize, more: &str) -> bool {
        let mut findings = self.findings.iter_mut();
        let found = findings.find(|finding| finding.rule == rule && finding.line == line);
        if let Some(finding) = found {
            finding.what.push_str(more);
            return true;
        }
        false
    }

    /// The findings of another file.
    pub fn take_over(&mut self, other: Notes) {
        self.findings.extend(other.findings);
    }

    /// In the order of the file.
    pub fn into_findings(mut self) -> Vec<Finding> {
        self.findings.sort_by_key(|finding| finding.line);
        self.findings
    }
}
