//! The program as it runs in the repository's root, with the cache of compiled modules that all tests share.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the project.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A command of the program, to be given its arguments.
pub fn host_sim(command: &str) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_host-sim"));
    program.arg(command).current_dir(repository()).env(
        "HOST_SIM_CACHE_DIR",
        repository().join("target/host-sim-cache"),
    );
    program
}
