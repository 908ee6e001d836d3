//! `host-sim keys` as a person runs it.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that fails stops"
)]

mod shared;

use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

/// The program's answer to these arguments, with this on its standard input.
fn keys(arguments: &[&str], input: &str) -> Output {
    let mut child = shared::host_sim("keys")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may have ended without reading.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const CALLER: [&str; 7] = ["new", "--id", "k1", "--tenant", "t", "--app", "a"];

#[test]
fn a_record_says_what_the_flags_said_and_has_the_digest_of_its_key() {
    let more = [
        "--generation=2",
        "--not-before=2026-01-01T00:00:00Z",
        "--expires-at=2027-01-01T00:00:00Z",
        "--scope=chat",
        "--scope=POST /v1/audio/",
        "--model=chat*",
        "--class=background",
        "--limit=small",
        "--format=json",
    ];

    let made = keys(&[&CALLER[..], &more].concat(), "");

    let mut made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let key = made["key"].take();
    let digest = keys(&["digest"], &format!("{}\n", key.as_str().unwrap()));
    let expected = json!({
        "id": "k1", "tenant": "t", "app": "a", "generation": 2,
        "not_before": "2026-01-01T00:00:00Z", "expires_at": "2027-01-01T00:00:00Z",
        "scopes": ["chat", "POST /v1/audio/"], "models": ["chat*"], "class": "background",
        "limits": ["small"], "sha256": text(&digest.stdout).trim_end(),
    });
    assert_eq!(made["record"], expected);
}

#[test]
fn as_text_the_key_is_the_first_line_and_stands_nowhere_else() {
    let made = keys(&CALLER, "");

    let out = text(&made.stdout);
    let (key, record) = out.split_once("\n\n").unwrap();
    assert!(key.starts_with("sk-") && key.len() == 46, "{key}");
    assert!(!record.contains(key) && !text(&made.stderr).contains(key));
    let record: Value = serde_json::from_str(record).unwrap();
    let digest = keys(&["digest"], key);
    assert_eq!(record["sha256"], text(&digest.stdout).trim_end());
    assert_ne!(text(&keys(&CALLER, "").stdout), out);
}

#[test]
fn what_is_no_key_has_no_digest_and_is_not_shown() {
    let refused = keys(&["digest"], "sk-one\nsk-two\n");

    assert_eq!(refused.status.code(), Some(1));
    let said = text(&refused.stderr);
    assert!(said.starts_with("host-sim: standard input"), "{said}");
    assert!(!said.contains("sk-") && refused.stdout.is_empty(), "{said}");
}
