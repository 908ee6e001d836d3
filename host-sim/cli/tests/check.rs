//! `host-sim check` as a person and as CI run it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails stops"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Run where Envoy is started, since the paths of modules are relative.
fn checked(arguments: &[&str]) -> Output {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_host-sim"))
        .current_dir(repository)
        .args(["check", "--cache-dir", "target/host-sim-cache"])
        .args(arguments)
        .output()
        .expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The shipped file with one edit, in a folder of its own that goes with it.
struct Edited(PathBuf);

impl Edited {
    fn new(name: &str, old: &str, new: &str) -> Self {
        let folder = format!("host-sim-check-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../envoy/envoy.yaml");
        let yaml = std::fs::read_to_string(shipped).unwrap();
        assert!(yaml.contains(old));
        std::fs::write(folder.join("envoy.yaml"), yaml.replacen(old, new, 1)).unwrap();
        Edited(folder)
    }

    fn path(&self) -> String {
        self.0.join("envoy.yaml").display().to_string()
    }
}

impl Drop for Edited {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_ships_is_clean() {
    let output = checked(&["--strict", "envoy/envoy.yaml", "envoy/gateway.json"]);
    assert_eq!(
        text(&output.stdout),
        "envoy/envoy.yaml, envoy/gateway.json: no problems\n"
    );
    assert_eq!(output.status.code(), Some(0));
}

/// C04: found before it is deployed.
#[test]
fn a_body_reader_without_the_flag_is_an_error_at_its_line() {
    let flag = "allow_on_headers_stop_iteration: true\n                failure_policy: FAIL_RELOAD\n                reload_config: {backoff: {base_interval: 0.1s}}\n                vm_config:\n                  vm_id: dragoman\n                  # Another configuration is another VM, even when one file holds all modules; the vm_id alone decides who shares data.\n                  configuration: {\"@type\": type.googleapis.com/google.protobuf.StringValue, value: alias}";
    let file = Edited::new("flag", flag, &flag.replacen("true", "false", 1));
    let output = checked(&[&file.path()]);
    let said = text(&output.stdout);
    let expected = "http_filters[2].typed_config.config.allow_on_headers_stop_iteration: is not true: alias holds the headers until it has read the body, and without it the body never comes to it, so every request with a body hangs until the idle limit (60s) [headers-stop]\n    allow_on_headers_stop_iteration: true\n";
    assert!(said.contains(expected), "{said}");
    assert!(said.ends_with(": 1 error, 0 warnings\n"), "{said}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_warning_is_an_error_only_if_it_is_asked_for() {
    let file = Edited::new("strict", "127.0.0.1", "0.0.0.0");
    let path = file.path();
    assert_eq!(checked(&[&path]).status.code(), Some(0));
    assert_eq!(checked(&[&path, "--strict"]).status.code(), Some(1));
    let said = text(&checked(&[&path, "--without-modules"]).stdout);
    let beginning =
        format!("{path}:3: admin.address: warning: is not loopback: whoever reaches it");
    assert!(said.starts_with(&beginning), "{said}");
}

#[test]
fn the_report_is_json_on_demand() {
    let file = Edited::new("json", "stat_prefix: public", "stat_prefixes: public");
    let output = checked(&["--format", "json", &file.path()]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["version"], 1);
    assert_eq!(report["files"], serde_json::json!([file.path()]));
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(report["errors"], findings.len());
    let [missing, unknown] = findings.as_slice() else {
        panic!("{report:#}")
    };
    assert!(
        missing["path"]
            .as_str()
            .unwrap()
            .ends_with("typed_config.stat_prefix")
    );
    assert!(
        missing["what"]
            .as_str()
            .unwrap()
            .starts_with("is missing or empty")
    );
    assert!(
        unknown["path"]
            .as_str()
            .unwrap()
            .ends_with("typed_config.stat_prefixes")
    );
    assert!(
        unknown["what"]
            .as_str()
            .unwrap()
            .ends_with("did you mean stat_prefix?")
    );
    assert_eq!(
        (&unknown["severity"], &unknown["rule"]),
        (&"error".into(), &"form".into())
    );
    assert_eq!(output.status.code(), Some(1));
}
