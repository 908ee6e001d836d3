//! The configuration that ships, as it ships.

use std::process::{Command, Output};

use blackbox::shell::repository;
use blackbox::{Engine, envoy_only};

envoy_only!["host-sim has no such mode; the demo starts it with the same configuration and a key":
    envoy_accepts_what_ships,
    envoy_refuses_what_a_filter_refuses];

/// Runs Envoy's own check where Envoy would be started, with these credentials.
fn validated(engine: Engine, yaml: &str, credentials: &[(&str, &str)]) -> Output {
    Command::new(engine.program())
        .current_dir(repository())
        .args(["--mode", "validate", "-l", "warning", "-c", yaml])
        .env_remove("W1_KEY")
        .env_remove("W2_KEY")
        .envs(credentials.iter().copied())
        .output()
        .expect("Envoy starts")
}

fn envoy_accepts_what_ships(engine: Engine) {
    let output = validated(
        engine,
        "envoy/envoy.yaml",
        &[("W1_KEY", "a"), ("W2_KEY", "b")],
    );
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A worker that is to get a credential is never called without one.
fn envoy_refuses_what_a_filter_refuses(engine: Engine) {
    let output = validated(engine, "envoy/envoy.yaml", &[("W1_KEY", "a")]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        said.contains("W2_KEY: not set in the environment of Envoy"),
        "{said}"
    );
}
