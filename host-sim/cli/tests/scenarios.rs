//! `host-sim run` as a person runs it, with the modules that `scripts/build-filters` made.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const GOOD: &str = "scenario: a chat is answered
gateway:
  version: 1
  auth: {mode: off}
  workers: [{id: w1, address: 127.0.0.1:9101}]
  endpoints: [{name: chat, targets: [{worker: w1}]}]
requests:
- {chat: chat, expect: {status: 200}}
";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    folder
}

fn bad() -> String {
    GOOD.replace("a chat is answered", "a chat is refused")
        .replace("status: 200", "status: 503")
}

/// Runs with `folder` as the place to be.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_host-sim"))
        .arg("run")
        .args(arguments)
        .arg("--modules")
        .arg(root.join("envoy/modules").canonicalize().expect("modules"))
        .env("HOST_SIM_CACHE_DIR", root.join("target/host-sim-cache"))
        .current_dir(folder)
        .output()
        .expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn good_scenarios_of_a_folder_end_with_zero() {
    let folder = folder(&[("b/good.yaml", GOOD), ("a.yml", GOOD), ("notes.txt", "")]);
    let output = run(folder.path(), &["."]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(
        text(&output.stdout),
        "ok   ./a.yml: a chat is answered (1 request, 0s)\nok   ./b/good.yaml: a chat is answered (1 request, 0s)\n2 passed, 0 failed\n"
    );
    assert_eq!(text(&output.stderr), "", "no progress where nobody looks");
}

#[test]
fn a_bad_scenario_is_told_and_ends_with_one() {
    let folder = folder(&[("good.yaml", GOOD), ("bad.yaml", &bad())]);
    let output = run(
        folder.path(),
        &["bad.yaml", "good.yaml", "--junit", "out/j.xml"],
    );
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), "host-sim: a scenario failed\n");
    let out = text(&output.stdout);
    assert!(out.starts_with("FAIL bad.yaml: a chat is refused (1 request, 0s)\n  bad.yaml:8: request 1: status\n    expected: 503\n         got: 200\n"), "{out}");
    assert!(
        out.ends_with("ok   good.yaml: a chat is answered (1 request, 0s)\n1 passed, 1 failed\n"),
        "{out}"
    );
    let xml = std::fs::read_to_string(folder.path().join("out/j.xml")).expect("written");
    assert!(
        xml.contains("<testsuite name=\"scenarios\" skipped=\"0\" tests=\"2\" failures=\"1\""),
        "{xml}"
    );
}

#[test]
fn a_file_that_is_no_scenario_is_told_with_its_line() {
    let folder = folder(&[("s.yaml", &format!("{GOOD}  atonce: true\n"))]);
    let output = run(folder.path(), &["s.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    let out = text(&output.stdout);
    assert!(
        out.starts_with("FAIL s.yaml: cannot be read\n  s.yaml:9: "),
        "{out}"
    );
}

#[test]
fn a_filter_looks_at_paths_and_titles() {
    let folder = folder(&[("one.yaml", GOOD), ("two.yaml", &bad())]);
    for filter in ["one", "is answered"] {
        let output = run(
            folder.path(),
            &[".", "--filter", filter, "--format", "json"],
        );
        assert!(output.status.success(), "{filter}");
        let out = text(&output.stdout);
        assert!(out.contains("\"passed\": 1,"), "{out}");
        assert!(!out.contains("two.yaml"), "{out}");
    }
    let none = run(folder.path(), &[".", "--filter", "three"]);
    assert_eq!(
        text(&none.stderr),
        "host-sim: no scenario is left: look at --filter\n"
    );
}

#[test]
fn a_golden_trace_is_recorded_once_and_compared_ever_after() {
    let folder = folder(&[("s.yaml", GOOD)]);
    let trace: PathBuf = folder.path().join("s.trace");
    assert!(
        run(folder.path(), &["s.yaml", "--record", "."])
            .status
            .success()
    );
    let recorded = std::fs::read_to_string(&trace).expect("written");
    assert!(
        recorded.contains("alias request_headers: pause"),
        "{recorded}"
    );
    assert!(
        run(folder.path(), &["s.yaml", "--check-golden"])
            .status
            .success()
    );

    std::fs::write(
        &trace,
        recorded.replace("request_headers: pause", "request_headers: continue"),
    )
    .expect("written");
    let output = run(folder.path(), &["s.yaml", "--check-golden"]);
    assert_eq!(output.status.code(), Some(1));
    let out = text(&output.stdout);
    assert!(
        out.contains("golden trace") && out.contains("+ ") && out.contains("--record"),
        "{out}"
    );
    assert!(
        run(folder.path(), &["s.yaml"]).status.success(),
        "only where it is asked for"
    );
}

#[test]
fn what_cannot_be_read_is_said() {
    let folder = folder(&[("empty/notes.txt", "")]);
    for (arguments, expected) in [
        (["none.yaml"], "cannot read none.yaml"),
        (["empty"], "empty: has no .yaml file"),
    ] {
        let output = run(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(1));
        let error = text(&output.stderr);
        assert!(error.contains(expected), "{error}");
    }
}
