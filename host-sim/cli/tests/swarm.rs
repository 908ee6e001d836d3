//! `host-sim swarm` through the program.

use std::path::Path;
use std::process::{Command, Output};

/// Runs the program in the project's folder.
fn swarm(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut program = Command::new(env!("CARGO_BIN_EXE_host-sim"));
    let output = program
        .arg("swarm")
        .args(arguments)
        .current_dir(root)
        .output();
    output.expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn clean_seeds_end_well_and_have_the_same_hash_each_time() {
    let run = || swarm(&["--seeds", "3", "--jobs", "1", "--hashes"]);
    let output = run();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let hashes = |output: &Output| {
        text(&output.stdout)
            .lines()
            .take(3)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(hashes(&output), hashes(&run()));
    assert!(text(&output.stdout).contains("3 of 3 seeds clean"));
}

#[test]
fn a_failing_seed_leaves_a_smaller_plan_that_fails_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let keep = folder.path().to_str().expect("text");
    let output = swarm(&["--seed", "0", "--plant", "wrong_credential", "--keep", keep]);
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(
        shown.contains("a worker gets its own credential and nobody else's"),
        "{shown}"
    );
    assert!(shown.contains("again: host-sim swarm --replay"), "{shown}");

    let file = folder.path().join("seed-0.json");
    let again = swarm(&["--replay", file.to_str().expect("text")]);
    assert_eq!(again.status.code(), Some(1), "{}", text(&again.stdout));
    assert!(
        text(&again.stdout).contains("should have"),
        "{}",
        text(&again.stdout)
    );
}

#[test]
fn what_cannot_be_run_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("plan.json");
    std::fs::write(&file, r#"{"seed": 1, "thread": 2}"#).expect("a file");
    let output = swarm(&["--replay", file.to_str().expect("text")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("unknown field `thread`"),
        "{}",
        text(&output.stderr)
    );
}
