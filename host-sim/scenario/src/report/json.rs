//! For programs.

use serde_json::{Value, json as document};

use super::Report;
use crate::play::{Failure, Run};

/// One document for all scenarios.
#[must_use]
pub fn json(reports: &[Report]) -> String {
    let failed = reports.iter().filter(|report| !report.passed()).count();
    let scenarios: Vec<Value> = reports.iter().map(scenario).collect();
    let document = document!({
        "passed": reports.len() - failed,
        "failed": failed,
        "scenarios": scenarios,
    });
    format!("{document:#}\n")
}

fn scenario(report: &Report) -> Value {
    let runs: Vec<Value> = report.runs.iter().map(run).collect();
    document!({
        "file": report.file,
        "scenario": report.title,
        "passed": report.passed(),
        "problems": report.problems,
        "runs": runs,
    })
}

fn run(run: &Run) -> Value {
    let failures: Vec<Value> = run.failures.iter().map(failure).collect();
    document!({
        "seed": run.seed,
        "requests": run.requests,
        "virtual_seconds": run.time.as_secs_f64(),
        "failures": failures,
    })
}

fn failure(failure: &Failure) -> Value {
    document!({
        "line": failure.line,
        "what": failure.what,
        "expected": failure.expected,
        "got": failure.got,
        "context": failure.context,
    })
}
