//! A scenario from its text to its report: all seeds, and the golden trace.

use std::time::Duration;

use crate::file::{self, Scenario};
use crate::golden;
use crate::play::{Failure, Run, Surroundings, play};
use crate::report::Report;

/// What is wanted of a run beyond what the file says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// This seed only.
    pub seed: Option<u64>,
    /// The trace of the first seed is kept.
    pub record: bool,
    /// What the trace of the first seed was once.
    pub golden: Option<&'a str>,
}

/// Runs the scenario of a file. `file` is its path as reports show it.
#[must_use]
pub fn run(file: &str, yaml: &str, surroundings: &Surroundings, wanted: Wanted<'_>) -> Report {
    let report = |title: &str, runs, problems| Report {
        file: file.to_owned(),
        title: title.to_owned(),
        runs,
        problems,
        took: Duration::ZERO,
    };
    let scenario = match file::read(yaml) {
        Ok(scenario) => scenario,
        Err(problems) => {
            let lines = problems.iter().map(|problem| {
                let path = if problem.path.is_empty() {
                    "file"
                } else {
                    &problem.path
                };
                format!("{file}:{}: {path}: {}", problem.line, problem.what)
            });
            return report("", Vec::new(), lines.collect());
        }
    };
    match runs(&scenario, surroundings, wanted) {
        Ok(runs) => report(&scenario.title, runs, Vec::new()),
        Err(ended) => {
            let (runs, stopped) = *ended;
            let line = format!("{file}:{}: {}: {}", stopped.line, stopped.what, stopped.got);
            report(&scenario.title, runs, vec![line])
        }
    }
}

fn runs(
    scenario: &Scenario,
    surroundings: &Surroundings,
    wanted: Wanted<'_>,
) -> Result<Vec<Run>, Box<(Vec<Run>, Failure)>> {
    let seeds = match wanted.seed {
        Some(seed) => seed..seed.saturating_add(1),
        None => scenario.seeds.clone(),
    };
    let mut runs = Vec::new();
    for seed in seeds {
        let first = runs.is_empty();
        let record = first && (wanted.record || wanted.golden.is_some());
        match play(scenario, seed, surroundings, record) {
            Ok(mut run) => {
                if first && let Some(golden) = wanted.golden {
                    compare(golden, &mut run);
                }
                runs.push(run);
            }
            Err(stopped) => return Err(Box::new((runs, stopped))),
        }
    }
    Ok(runs)
}

fn compare(golden: &str, run: &mut Run) {
    let now = run.trace.as_deref().unwrap_or_default();
    if let Some(difference) = golden::difference(golden, now) {
        run.failures.push(Failure {
            line: 1,
            what: "golden trace".to_owned(),
            expected: "what happened when it was recorded".to_owned(),
            got: difference,
            context: vec!["if the change is right: host-sim run FILE --record FOLDER".to_owned()],
        });
    }
}
