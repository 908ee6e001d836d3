//! A seed gives the same run wherever and whenever it is run.

use std::fmt::Write;
use std::path::Path;

use host_sim_swarm::{generate, run};

/// Seeds with threads that overlap, faults, limits, idempotency and updates, and none whose log names a path of the machine.
const SEEDS: [u64; 6] = [1, 7, 12, 23, 42, 57];

/// The hashes that are committed.
const COMMITTED: &str = include_str!("../hashes.tsv");

#[test]
fn traces_are_what_they_were() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut hashes = String::from("seed\thash of the whole trace\n");
    for seed in SEEDS {
        let outcome = run(&generate::plan(seed), &folder.join("../../envoy/modules"));
        let outcome = outcome.unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
        assert_eq!(outcome.violations, [], "seed {seed}");
        writeln!(hashes, "{seed}\t{:016x}", outcome.trace_hash).expect("a string");
    }
    if std::env::var_os("UPDATE_HASHES").is_some() {
        std::fs::write(folder.join("hashes.tsv"), &hashes).expect("the file");
        return;
    }
    assert_eq!(
        hashes, COMMITTED,
        "a seed gives another run than before. After a change of a filter, of the engine or of what a seed means that is right:\n\
         UPDATE_HASHES=1 cargo test -p host-sim-swarm --test hashes\n\
         Without one it is a loss of determinism, and must be found."
    );
}
