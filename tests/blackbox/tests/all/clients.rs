//! Real clients: the scripts of `tests/clients` against each engine.

use std::process::Command;

use blackbox::shell::repository;
use blackbox::{Engine, World, both_engines};
use serde_json::{Value, json};

both_engines![
    a_program_with_openais_sdk_is_served,
    a_program_with_anthropics_sdk_is_served
];

/// Keys by the name of the variable in which the scripts find them.
const KEYS: [(&str, &str); 7] = [
    ("KEY", "sk-clients-5d1c"),
    ("KEY_NARROW", "sk-clients-narrow-0b77"),
    ("KEY_LIMITED", "sk-clients-limited-91fe"),
    ("KEY_LISTING", "sk-clients-listing-2ac0"),
    ("KEY_OLD", "sk-clients-old-77d3"),
    ("KEY_OTHER", "sk-clients-other-e4b8"),
    ("KEY_SUSPENDED", "sk-clients-suspended-13f9"),
];

fn fields(name: &str) -> (&'static str, Value) {
    match name {
        "KEY_NARROW" => ("team", json!({"models": ["chat"]})),
        "KEY_LIMITED" => ("team", json!({"app": "limited"})),
        "KEY_LISTING" => ("team", json!({"app": "listing", "scopes": ["models"]})),
        "KEY_OLD" => ("team", json!({"expires_at": "2020-01-01T00:00:00Z"})),
        "KEY_OTHER" => ("others", json!({})),
        "KEY_SUSPENDED" => ("gone", json!({})),
        _ => ("team", json!({})),
    }
}

fn world(engine: Engine) -> World {
    World::on(engine)
        .with("auth", json!({}))
        .with("idempotency", json!({}))
        .with(
            "limits",
            json!([{"name": "per-app", "by": ["app"], "rate": {"per_second": 1, "burst": 60}}]),
        )
        .document(|document| {
            let document = document
                .tenant("team", json!({}))
                .tenant("others", json!({}))
                .tenant("gone", json!({"status": "suspended"}));
            KEYS.iter().fold(document, |document, (name, key)| {
                let (tenant, fields) = fields(name);
                document.key(name, key, tenant, fields)
            })
        })
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .endpoint("code", &[("w1", "code-large")])
        .endpoint_with("foreign", &[("w1", "large")], json!({"tenant": "others"}))
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
        .envs(KEYS)
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
