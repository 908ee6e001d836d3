//! Many seeds at a time, with progress, until all are run or somebody presses Ctrl-C.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use host_sim_swarm::Outcome;

use super::{Options, outcome_of, plan_of};

/// Between two lines of progress where nobody sees a bar.
const LINES_EVERY: Duration = Duration::from_secs(20);
/// Between two pictures of the bar.
const BAR_EVERY: Duration = Duration::from_millis(200);
/// Length of the bar in characters.
const BAR: u64 = 40;

/// A seed that broke a promise.
#[derive(Debug)]
pub struct Failed {
    /// The seed.
    pub seed: u64,
    /// What it came to.
    pub outcome: Outcome,
}

/// What all seeds came to.
#[derive(Debug)]
pub struct Crew {
    /// How many were run.
    pub done: u64,
    /// Those that broke a promise, by number.
    pub failed: Vec<Failed>,
    /// Whether Ctrl-C ended it.
    pub interrupted: bool,
    /// How long it took.
    pub time: Duration,
}

/// Runs `count` seeds from `from` on; ends early when `enough` says so of an outcome.
///
/// # Errors
/// A seed cannot be run at all.
pub fn run(
    options: &Options,
    from: u64,
    count: u64,
    enough: impl Fn(&Outcome) -> bool,
) -> Result<Crew, String> {
    let stop = Arc::new(AtomicBool::new(false));
    let interrupted = Arc::new(AtomicBool::new(false));
    let registered = signal_hook::flag::register(signal_hook::consts::SIGINT, interrupted.clone());
    let registered = registered.map_err(|error| format!("cannot listen for Ctrl-C: {error}"))?;
    let next = AtomicU64::new(from);
    let mut progress = Progress::new(count);
    let mut failed = BTreeMap::new();
    let (results, inbox) = mpsc::channel();
    let outcome = std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            let (results, next, stop, interrupted) = (results.clone(), &next, &stop, &interrupted);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) && !interrupted.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= from.saturating_add(count) {
                        break;
                    }
                    let outcome = outcome_of(&plan_of(seed, options), options);
                    if results.send((seed, outcome)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(results);
        loop {
            match inbox.recv_timeout(BAR_EVERY) {
                Ok((seed, Ok(outcome))) => {
                    if options.hashes {
                        super::print(&format!("{seed}\t{:016x}\n", outcome.trace_hash))?;
                    }
                    if enough(&outcome) {
                        stop.store(true, Ordering::Relaxed);
                    }
                    if !outcome.violations.is_empty() {
                        failed.insert(seed, Failed { seed, outcome });
                    }
                    progress.done += 1;
                }
                Ok((seed, Err(reason))) => {
                    stop.store(true, Ordering::Relaxed);
                    return Err(format!("seed {seed} cannot be run: {reason}"));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            progress.show(failed.len(), false);
        }
    });
    progress.show(failed.len(), true);
    signal_hook::low_level::unregister(registered);
    outcome?;
    Ok(Crew {
        done: progress.done,
        failed: failed.into_values().collect(),
        interrupted: interrupted.load(Ordering::Relaxed),
        time: progress.begun.elapsed(),
    })
}

/// A bar on a terminal, a line now and then elsewhere; on standard error, so that results stay alone.
struct Progress {
    done: u64,
    count: u64,
    begun: Instant,
    shown: Option<Instant>,
    bar: bool,
}

impl Progress {
    fn new(count: u64) -> Self {
        Progress {
            done: 0,
            count,
            begun: Instant::now(),
            shown: None,
            bar: std::io::stderr().is_terminal(),
        }
    }

    fn show(&mut self, failed: usize, last: bool) {
        let every = if self.bar { BAR_EVERY } else { LINES_EVERY };
        let since = self.shown.unwrap_or(self.begun).elapsed();
        if (since < every && !last) || self.count < 2 {
            return;
        }
        self.shown = Some(Instant::now());
        let seconds = self.begun.elapsed().as_secs_f64().max(0.001);
        let rate = self.done as f64 / seconds;
        let left = (self.count - self.done.min(self.count)) as f64 / rate.max(0.001);
        let (done, count) = (self.done, self.count);
        let text = format!(
            "{done} of {count} seeds, {failed} failed, {rate:.0} a second, {left:.0} s left"
        );
        let mut error = std::io::stderr().lock();
        // Progress that nobody can read is no reason to stop.
        let _ = if self.bar {
            let full = (done * BAR / count.max(1)).min(BAR);
            let (full, rest) = (full as usize, (BAR - full) as usize);
            let end = if last { "\n" } else { "" };
            write!(
                error,
                "\r[{}{}] {text}\x1b[K{end}",
                "#".repeat(full),
                ".".repeat(rest)
            )
        } else {
            writeln!(error, "{text}")
        };
        let _ = error.flush();
    }
}
