//! The rules on the project, and each rule on small made-up trees that keep and break it.

mod code_map;
mod commands;
mod folders;
mod layers;
mod modules;
mod requirements;
mod source;
mod text;
mod top_level;
mod tree;

use std::path::{Path, PathBuf};

use tidy::{Finding, Tree};

/// The root of the project.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors()
        .nth(2)
        .expect("tests/tidy is two folders deep")
        .to_path_buf()
}

fn project() -> Tree {
    Tree::open(&root()).expect("the project can be read")
}

/// Fails with all findings, one a line.
#[track_caller]
fn assert_tidy(findings: &[Finding]) {
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(
        lines.is_empty(),
        "{} found:\n  {}",
        lines.len(),
        lines.join("\n  ")
    );
}

/// Each finding must hold the text at its place in `expected`, and there must be no others.
#[track_caller]
fn assert_finds(findings: &[Finding], expected: &[&str]) {
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    let same = lines.len() == expected.len()
        && lines
            .iter()
            .zip(expected)
            .all(|(line, text)| line.contains(text));
    assert!(
        same,
        "found:\n  {}\nexpected:\n  {}",
        lines.join("\n  "),
        expected.join("\n  ")
    );
}
