//! Every command that a README shows is run by something, so none goes stale.

use std::collections::BTreeMap;

use crate::{Finding, Tree, selection};

/// What runs a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunBy {
    /// A test function of this name.
    Test(&'static str),
    /// This script, in whose text the command stands.
    Script(&'static str),
}

/// A command of a README, as it is shown there, and what runs it.
pub type Command = (&'static str, RunBy);

/// The commands that READMEs may show, besides those of [`selection`].
pub const COMMANDS: &[Command] = &[
    ("./scripts/run", RunBy::Test("the_demo_runs_in_host_sim")),
    (
        "./scripts/run --envoy",
        RunBy::Test("the_demo_runs_in_envoy"),
    ),
    ("./scripts/test", RunBy::Script(".ci/run")),
    (
        "cargo run --bin control-plane -- --listen 127.0.0.1:9201 --keys keys.json",
        RunBy::Test("the_control_plane_serves_a_file_of_keys_and_takes_changes"),
    ),
    (
        "cargo run --quiet --bin host-sim -- check --strict envoy/envoy.yaml envoy/gateway.json",
        RunBy::Script("scripts/test"),
    ),
    (
        "cargo run --quiet --bin host-sim -- swarm --seeds 2000 --jobs 2",
        RunBy::Script("scripts/test"),
    ),
    (
        "cargo run --quiet --bin host-sim -- swarm --canary",
        RunBy::Script("scripts/test"),
    ),
];

/// Languages of a fenced block that holds commands.
const SHELLS: &[&str] = &["sh", "bash", "shell", "console"];

/// Every command of a README that nothing runs.
pub fn check(tree: &Tree, known: &[Command]) -> Vec<Finding> {
    let functions = tree.functions();
    let mut findings = Vec::new();
    for (readme, text) in tree.readmes() {
        for (line, command) in shown(text) {
            if let Some(reason) = unproven(tree, &functions, known, &command) {
                findings.push(Finding::on_line(
                    readme,
                    line,
                    format!("`{command}` {reason}"),
                ));
            }
        }
    }
    findings
}

fn unproven(
    tree: &Tree,
    functions: &BTreeMap<&str, Vec<&str>>,
    known: &[Command],
    command: &str,
) -> Option<String> {
    let Some((_, run_by)) = known.iter().find(|(line, _)| *line == command) else {
        let unknown = "is run by no test; name what runs it in COMMANDS of tests/tidy";
        let part = selection::check(tree, command);
        return part.unwrap_or_else(|| Err(unknown.to_owned())).err();
    };
    match run_by {
        RunBy::Test(name) if functions.contains_key(name) => None,
        RunBy::Test(name) => Some(format!("is to be run by the test {name}, which is missing")),
        RunBy::Script(path) => match tree.text(path) {
            Some(text) if text.contains(command) => None,
            Some(_) => Some(format!("is to be run by {path}, which does not")),
            None => Some(format!("is to be run by {path}, which is missing")),
        },
    }
}

/// The commands in fenced blocks, with the line each begins on. Comments are dropped and lines that
/// end in a backslash joined.
fn shown(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fence = None;
    let mut begun: Option<(usize, String)> = None;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(language) = line.strip_prefix("```") {
            fence = if fence.is_none() {
                Some(SHELLS.contains(&language.trim()))
            } else {
                None
            };
            found.extend(begun.take());
        } else if fence == Some(true) {
            let (part, more) = line
                .strip_suffix('\\')
                .map_or((line, false), |part| (part, true));
            let (_, command) = begun.get_or_insert_with(|| (at + 1, String::new()));
            let part = without_comment(part);
            if !command.is_empty() && !part.is_empty() {
                command.push(' ');
            }
            command.push_str(part);
            if !more {
                found.extend(begun.take());
            }
        }
    }
    found.retain(|(_, command)| !command.is_empty());
    found
}

/// A command without its prompt and without what follows ` #`.
fn without_comment(line: &str) -> &str {
    let line = line.strip_prefix("$ ").unwrap_or(line);
    if line.starts_with('#') {
        return "";
    }
    line.split(" #").next().unwrap_or("").trim()
}
