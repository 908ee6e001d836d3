//! Real clients: the scripts of `tests/clients` against each engine.

use std::process::Command;

use blackbox::shell::repository;
use blackbox::{Engine, World, both_engines};
use serde_json::json;

both_engines![
    a_program_with_openais_sdk_is_served,
    a_program_with_anthropics_sdk_is_served
];

const KEY: &str = "sk-clients-5d1c";
const KEY_NARROW: &str = "sk-clients-narrow-0b77";
const KEY_LIMITED: &str = "sk-clients-limited-91fe";

fn world(engine: Engine) -> World {
    World::on(engine)
        .with("auth", json!({}))
        .with("idempotency", json!({}))
        .with(
            "limits",
            json!([{"name": "per-app", "by": ["app"], "rate": {"per_second": 1, "burst": 20}}]),
        )
        .document(|document| {
            document
                .tenant("team", json!({}))
                .key("k", KEY, "team", json!({}))
                .key("k-narrow", KEY_NARROW, "team", json!({"models": ["chat"]}))
                .key("k-limited", KEY_LIMITED, "team", json!({"app": "limited"}))
        })
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .endpoint("code", &[("w1", "code-large")])
        .start()
}

fn run(engine: Engine, script: &str) {
    let clients = repository().join(".tools/clients");
    assert!(
        clients.is_dir(),
        "there are no SDKs: run scripts/install-clients first"
    );
    let world = world(engine);
    let output = Command::new("python3")
        .arg(repository().join("tests/clients").join(script))
        .env("PYTHONPATH", clients)
        .env("GATEWAY", format!("http://{}", world.address()))
        .envs([
            ("KEY", KEY),
            ("KEY_NARROW", KEY_NARROW),
            ("KEY_LIMITED", KEY_LIMITED),
        ])
        .output()
        .expect("there is a python3");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn a_program_with_openais_sdk_is_served(engine: Engine) {
    run(engine, "openai_sdk.py");
}

fn a_program_with_anthropics_sdk_is_served(engine: Engine) {
    run(engine, "anthropic_sdk.py");
}
