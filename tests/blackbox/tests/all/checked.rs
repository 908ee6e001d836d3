//! `host-sim check` and `envoy --mode validate` agree, where Envoy can see the fault at all.

use std::path::Path;
use std::process::Command;

use blackbox::shell::repository;
use blackbox::{Engine, envoy_only};

envoy_only!["both programs look at the same files in one test":
    what_ships_passes_both,
    what_envoy_refuses_the_check_refuses_too,
    what_envoy_takes_is_no_fault_of_form];

const SHIPPED: &str = include_str!("../../../../envoy/envoy.yaml");

/// Whether each of the two takes a file: Envoy, the check.
fn taken(engine: Engine, yaml: &str) -> (bool, bool, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("envoy.yaml");
    std::fs::write(&file, yaml).expect("a file");
    let envoy = Command::new(engine.program())
        .current_dir(repository())
        .args(["--mode", "validate", "-l", "critical", "-c"])
        .arg(&file)
        .env("W1_KEY", "a")
        .env("W2_KEY", "b")
        .output()
        .expect("Envoy starts");
    let (passes, said) = check(&file);
    let said = said + &String::from_utf8_lossy(&envoy.stderr);
    (envoy.status.success(), passes, said)
}

fn check(file: &Path) -> (bool, String) {
    let output = Command::new(Engine::HostSim.program())
        .current_dir(repository())
        .args(["check", "--cache-dir", "target/host-sim-cache"])
        .arg(file)
        .output()
        .expect("host-sim starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success(), said)
}

fn what_ships_passes_both(engine: Engine) {
    let (envoy, host_sim, said) = taken(engine, SHIPPED);
    assert!(envoy && host_sim, "{said}");
}

fn what_envoy_refuses_the_check_refuses_too(engine: Engine) {
    for (old, new) in [
        // Fields, names and kinds that Envoy does not know.
        ("stat_prefix: public", "stat_prefixes: public"),
        ("use_remote_address: true", "use_remote_address: 1"),
        ("stream_idle_timeout: 60s", "stream_idle_timeout: 1m"),
        ("name: public", "name: off"),
        ("type: STATIC", "type: STATICS"),
        ("failure_policy: FAIL_RELOAD", "failure_policy: FAIL_NEVER"),
        ("op: EQ", "op: EQUALS"),
        (
            "initial_stream_window_size: 5505024",
            "initial_stream_window_size: 1",
        ),
        ("port_value: 10000", "port_value: 100000"),
        ("cluster_name: \"workers\"", "cluster_name: \"\""),
        ("http.wasm.v3.Wasm", "http.wasm.v3.Wasmm"),
        // What must be there.
        (
            "                name: alias\n",
            "                name: [alias]\n",
        ),
        (
            "          - name: envoy.filters.http.router\n",
            "          - name: envoy.filters.http.router2\n            disabled: {}\n",
        ),
        (
            "        - name: envoy.filters.http.upstream_codec\n          typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec}\n",
            "",
        ),
        (
            "route: {cluster: dragoman-refused}",
            "route: {cluster: nobody}",
        ),
        // What the modules refuse.
        ("\"weight\": 80", "\"weight\": -1"),
        ("\"version\": 1,", "\"version\": 1"),
        (
            "host_env_keys: [\"W1_KEY\", \"W2_KEY\"]",
            "host_env_keys: [\"W1_KEY\"]",
        ),
        ("modules/select.wasm", "modules/nothing.wasm"),
        (
            "configuration: *config",
            "configuration: {\"@type\": type.googleapis.com/google.protobuf.Struct, value: {version: 1}}",
        ),
    ] {
        assert!(SHIPPED.contains(old), "{old}");
        let (envoy, host_sim, said) = taken(engine, &SHIPPED.replacen(old, new, 1));
        assert!(!envoy, "Envoy takes {new}: {said}");
        assert!(!host_sim, "the check takes {new}: {said}");
    }
}

/// Spellings that Envoy takes; the check may warn that host-sim does not model them.
fn what_envoy_takes_is_no_fault_of_form(engine: Engine) {
    for (old, new) in [
        ("stat_prefix: public", "statPrefix: public"),
        (
            "stat_prefix: public",
            "stat_prefix: public\n          server_name: mine",
        ),
        ("type: STATIC", "type: static"),
        ("use_remote_address: true", "use_remote_address: \"yes\""),
        ("port_value: 10000", "port_value: \"10000\""),
        (
            "delayed_close_timeout: 0.2s",
            "delayed_close_timeout: 0.2s\n          codec_type: AUTO",
        ),
    ] {
        let (envoy, host_sim, said) = taken(engine, &SHIPPED.replacen(old, new, 1));
        assert!(envoy, "Envoy refuses {new}: {said}");
        assert!(host_sim, "the check refuses {new}: {said}");
    }
}
