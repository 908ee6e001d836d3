//! What came of scenarios, for people, programs and CI.

mod json;
mod junit;
mod text;

use std::time::Duration;

use crate::play::{Failure, Run};

pub use json::json;
pub use junit::junit;
pub use text::{text, total};

/// Most seeds of one scenario whose failures are told.
pub const MAX_SEEDS_TOLD: usize = 3;

/// What came of one scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Path of the file, as it was given.
    pub file: String,
    /// Its first line; empty if the file cannot be read.
    pub title: String,
    /// One a seed, in order.
    pub runs: Vec<Run>,
    /// Why there was no run, a line each, or none.
    pub problems: Vec<String>,
    /// How long it took, in real time; whoever has a clock fills it in.
    pub took: Duration,
}

impl Report {
    /// Everything came as it should.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.problems.is_empty() && self.runs.iter().all(|run| run.failures.is_empty())
    }

    /// Requests of all runs.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.runs.iter().map(|run| run.requests).sum()
    }

    /// Failures with their seeds, of the first seeds that failed.
    fn failures(&self) -> impl Iterator<Item = (u64, &Failure)> {
        let failed = self.runs.iter().filter(|run| !run.failures.is_empty());
        failed
            .take(MAX_SEEDS_TOLD)
            .flat_map(|run| run.failures.iter().map(|failure| (run.seed, failure)))
    }

    /// How many seeds failed.
    fn failed_seeds(&self) -> usize {
        let failed = self.runs.iter().filter(|run| !run.failures.is_empty());
        failed.count()
    }
}
