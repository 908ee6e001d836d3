#![doc = include_str!("../README.md")]

mod body;
pub mod checks;
pub mod draw;
pub mod flights;
pub mod gateway;
pub mod generate;
pub mod plan;
pub mod shrink;
pub mod stage;

use std::path::Path;

pub use checks::Violation;
pub use host_sim_scenario::SetupError;
pub use plan::Plan;
pub use stage::Observed;

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Hash of the whole trace.
    pub trace_hash: u64,
    /// Promises that were broken.
    pub violations: Vec<Violation>,
    /// The end of the trace, if any was.
    pub trace: String,
}

/// Carries out a plan and checks it.
///
/// # Errors
/// The modules are missing or refuse the plan's configuration.
pub fn run(plan: &Plan, modules: &Path) -> Result<Outcome, SetupError> {
    let observed = stage::run(plan, modules)?;
    let violations = checks::check(&observed);
    let is_clean = violations.is_empty();
    Ok(Outcome {
        trace_hash: observed.trace_hash,
        violations,
        trace: if is_clean {
            String::new()
        } else {
            observed.trace
        },
    })
}
