//! Scenario files from text to report, with the shipped modules.

#[path = "suite/documented.rs"]
mod documented;
#[path = "suite/golden.rs"]
mod golden;
#[path = "suite/reports.rs"]
mod reports;
#[path = "suite/runs.rs"]
mod runs;
#[path = "suite/wrong.rs"]
mod wrong;

use std::path::Path;

use host_sim_scenario::play::Surroundings;
use host_sim_scenario::report::Report;
use host_sim_scenario::suite::{self, Wanted};

/// Two workers behind `chat`, the first of which is asked first.
const GATEWAY: &str = "scenario: two workers
gateway:
  version: 1
  auth: {mode: off}
  workers: [{id: w1, address: 127.0.0.1:9101}, {id: w2, address: 127.0.0.1:9102}]
  endpoints: [{name: chat, mode: failover, targets: [{worker: w1, served_model_name: large}, {worker: w2}]}]
";

/// The first line behind [`GATEWAY`].
const FIRST: usize = 7;

fn surroundings() -> Surroundings {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Surroundings {
        cache: Some(root.join("target/host-sim-cache")),
        ..Surroundings::of(Path::new("s.yaml"), &root.join("envoy/modules"))
    }
}

fn run_as(more: &str, wanted: Wanted<'_>) -> Report {
    suite::run(
        "s.yaml",
        &format!("{GATEWAY}{more}"),
        &surroundings(),
        wanted,
    )
}

fn run(more: &str) -> Report {
    run_as(more, Wanted::default())
}
