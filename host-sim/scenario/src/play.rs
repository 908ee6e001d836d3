//! Runs a scenario with one seed and judges what came of it.

mod deploy;
mod direct;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::client::RequestId;
use crate::expect;
use crate::file::{RequestPlan, Scenario};
use crate::record::Record;
use crate::world::World;

/// Most things that happen in one run of a scenario. The largest shipped one needs a hundredth.
pub const MAX_HAPPENINGS: u64 = 5_000_000;
/// Most bytes of all answers of one run: they are kept until it has been judged.
pub const MAX_RESPONSE_BYTES: u64 = 1024 * 1024 * 1024;
/// How long a client is waited for after the last request was sent. Envoy's own time limits are far
/// below; whoever still waits then waits for ever.
pub const PATIENCE: Duration = Duration::from_secs(2 * 3_600);

/// What surrounds a scenario.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Folder that paths in the scenario are relative to.
    pub folder: PathBuf,
    /// Folder of the `.wasm` files.
    pub modules: PathBuf,
    /// Folder that keeps compiled modules.
    pub cache: Option<PathBuf>,
}

impl Surroundings {
    /// Of a scenario's file, with the modules of this folder; nothing compiled is kept.
    #[must_use]
    pub fn of(file: &Path, modules: &Path) -> Self {
        Surroundings {
            folder: file.parent().unwrap_or(Path::new("")).to_owned(),
            modules: modules.to_owned(),
            cache: None,
        }
    }
}

/// Something that did not come as it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Line of the scenario, from 1.
    pub line: usize,
    /// Of what, as `a busy worker, 2nd of 3: status`.
    pub what: String,
    /// What should have come.
    pub expected: String,
    /// What came.
    pub got: String,
    /// What else is known of it, a line each.
    pub context: Vec<String>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// With this seed.
    pub seed: u64,
    /// Empty: all came as it should.
    pub failures: Vec<Failure>,
    /// Requests of clients that were sent.
    pub requests: usize,
    /// When it was over, in virtual time.
    pub time: Duration,
    /// All that happened, if it was to be recorded.
    pub trace: Option<String>,
}

/// The requests of one plan.
pub(crate) struct Sent<'a> {
    pub plan: &'a RequestPlan,
    pub ids: Vec<RequestId>,
}

/// Runs a scenario with a seed; `record`: keep what happened as text.
///
/// # Errors
/// The deployment does not start, or the scenario names something that it does not have.
pub fn play(
    scenario: &Scenario,
    seed: u64,
    surroundings: &Surroundings,
    record: bool,
) -> Result<Run, Failure> {
    let record = record.then(|| Arc::new(Record::new(scenario.threads)));
    let mut world = deploy::deploy(scenario, seed, surroundings, record.as_ref())?;
    expect::known(scenario, &world)?;
    deploy::set_the_scene(scenario, &mut world);
    let sent = direct::direct(scenario, &mut world)?;
    Ok(Run {
        seed,
        failures: expect::judge(scenario, &world, &sent),
        requests: sent.iter().map(|sent| sent.ids.len()).sum(),
        time: world.now(),
        trace: record.map(|record| record.text()),
    })
}

/// A run that did not get to its end.
pub(crate) fn stopped(line: usize, what: &str, got: impl Into<String>) -> Failure {
    Failure {
        line,
        what: what.to_owned(),
        expected: "the run gets to its end".to_owned(),
        got: got.into(),
        context: Vec::new(),
    }
}

impl World {
    /// Takes one more step, unless it is none of these any more.
    fn goes_on(&mut self, deadline: Duration) -> Result<bool, Failure> {
        if self.happenings() >= MAX_HAPPENINGS {
            let text = format!(
                "after {MAX_HAPPENINGS} events it is not over, at {:?} of the run",
                self.now()
            );
            return Err(stopped(1, "the run", text));
        }
        if self.response_bytes() > MAX_RESPONSE_BYTES {
            let text = format!("all answers together have more than {MAX_RESPONSE_BYTES} bytes");
            return Err(stopped(1, "the run", text));
        }
        Ok(self.step(deadline))
    }
}
