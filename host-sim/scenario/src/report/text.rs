//! For people.

use std::fmt::Write;

use super::{MAX_SEEDS_TOLD, Report};
use crate::file::show_time;

/// A line for a scenario, and below it what is wrong.
#[must_use]
pub fn text(report: &Report) -> String {
    let mut text = head(report);
    for problem in &report.problems {
        let _ = writeln!(text, "  {problem}");
    }
    let many = report.runs.len() > 1;
    for (seed, failure) in report.failures() {
        let seed = if many {
            format!(" [seed {seed}]")
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "  {}:{}: {}{seed}",
            report.file, failure.line, failure.what
        );
        side(&mut text, "expected", &failure.expected);
        side(&mut text, "got", &failure.got);
        for line in &failure.context {
            let _ = writeln!(text, "      {line}");
        }
    }
    let failed = report.failed_seeds();
    if failed > MAX_SEEDS_TOLD {
        let more = failed - MAX_SEEDS_TOLD;
        let _ = writeln!(text, "  and {more} more seeds fail");
    }
    text
}

fn head(report: &Report) -> String {
    let mark = if report.passed() { "ok  " } else { "FAIL" };
    let title = if report.title.is_empty() {
        "cannot be read"
    } else {
        &report.title
    };
    let mut notes = Vec::new();
    if let Some(run) = report.runs.first() {
        notes.push(match report.requests() {
            1 => "1 request".to_owned(),
            requests => format!("{requests} requests"),
        });
        if report.runs.len() > 1 {
            notes.push(format!("{} seeds", report.runs.len()));
        }
        notes.push(show_time(run.time));
    }
    let notes = if notes.is_empty() {
        String::new()
    } else {
        format!(" ({})", notes.join(", "))
    };
    format!("{mark} {}: {title}{notes}\n", report.file)
}

/// `expected: ...`, with the colons below each other; further lines are indented.
fn side(text: &mut String, name: &str, value: &str) {
    let mut lines = value.lines();
    let _ = writeln!(text, "    {name:>8}: {}", lines.next().unwrap_or_default());
    for line in lines {
        let _ = writeln!(text, "              {line}");
    }
}

/// The last line.
#[must_use]
pub fn total(reports: &[Report]) -> String {
    let failed = reports.iter().filter(|report| !report.passed()).count();
    format!("{} passed, {failed} failed\n", reports.len() - failed)
}
