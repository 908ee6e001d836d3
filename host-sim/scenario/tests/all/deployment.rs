//! Gateways for tests.

use std::path::Path;
use std::time::Duration;

use host_sim_scenario::{Recorded, Request, Seen, Setup, World};
use serde_json::{Value, json};
use tempfile::TempDir;

pub const TIMEOUT: Duration = Duration::from_secs(30);

/// One endpoint `chat` with `workers` targets `w1`, `w2`, ... in one cluster; worker `wN` calls the model `served-N`.
pub fn gateway(mode: &str, workers: usize) -> Value {
    let targets = (1..=workers)
        .map(|n| json!({"worker": format!("w{n}"), "served_model_name": format!("served-{n}")}));
    let addresses = (1..=workers)
        .map(|n| json!({"id": format!("w{n}"), "cluster": "workers", "address": format!("127.0.0.1:{}", 9100 + n)}));
    json!({
        "version": 1,
        "max_body_bytes": 4_194_304,
        "auth": {"mode": "off"},
        "endpoints": [{
            "name": "chat",
            "mode": mode,
            "timeout_ms": u64::try_from(TIMEOUT.as_millis()).expect("small"),
            "max_attempts": workers,
            "targets": targets.collect::<Vec<_>>(),
        }],
        "workers": addresses.collect::<Vec<_>>(),
        "routing": {"backend_header": "x-aisuite-backend"},
    })
}

pub fn world(gateway: &Value, setup: &Setup) -> World {
    World::new(&gateway.to_string(), setup).unwrap_or_else(|problem| panic!("{problem}"))
}

pub fn chat() -> Request {
    Request::post("/v1/chat/completions", BODY)
}

pub fn streamed_chat() -> Request {
    Request::post(
        "/v1/chat/completions",
        r#"{"model": "chat", "stream": true, "messages": [{"role": "user", "content": "hi"}]}"#,
    )
}

pub const BODY: &str =
    r#"{"model": "chat", "messages": [{"role": "user", "content": "hello there"}]}"#;

/// How many whole requests arrived at a worker.
pub fn served(world: &World, worker: &str) -> usize {
    world
        .received(worker)
        .into_iter()
        .filter(|recorded| matches!(recorded.seen, Seen::Request(_)))
        .count()
}

/// The body of a whole request.
pub fn body(recorded: &Recorded) -> &[u8] {
    match &recorded.seen {
        Seen::Request(request) => &request.body,
        other => panic!("not a whole request: {other:?}"),
    }
}

const CHAIN: &str = "\n          http_filters:\n";

const PLUGIN: &str = r#"          - name: obey
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm
              config:
                name: obey
                root_id: obey
                configuration: {"@type": type.googleapis.com/google.protobuf.StringValue, value: ""}
                failure_policy: FAIL_RELOAD
                reload_config: {backoff: {base_interval: 0.1s}}
                vm_config:
                  vm_id: obey
                  runtime: envoy.wasm.runtime.v8
                  code: {local: {filename: "${file}"}}
"#;

/// The same `envoy.yaml` with the module of this file before all other filters.
pub fn with_plugin(yaml: &str, file: &Path) -> String {
    let plugin = PLUGIN.replace("${file}", &file.display().to_string());
    yaml.replacen(CHAIN, &format!("{CHAIN}{plugin}"), 1)
}

/// One worker, and a guest of this text before all other filters. The folder must live as long as the world.
pub fn with_guest(text: &str, setup: &Setup) -> (World, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("obey.wasm");
    std::fs::write(&file, wat::parse_str(text).expect("a module")).expect("a file");
    let world = World::edited(&gateway("failover", 1).to_string(), setup, |yaml| {
        with_plugin(yaml, &file)
    });
    (world.unwrap_or_else(|problem| panic!("{problem}")), folder)
}
