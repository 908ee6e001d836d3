//! The paths that the READMEs name exist.

use crate::{Finding, Tree};

/// What a path of the project begins with.
const ROOTS: &[&str] = &["filters/", "host-sim/", "tests/", "scripts/", "envoy/"];

/// Written by a build, so not part of the tree.
const BUILD_OUTPUT: &[&str] = &["envoy/modules"];

/// Every path in backticks that leads nowhere: neither from the root nor from the README's folder.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (readme, text) in tree.readmes() {
        let folder = readme.strip_suffix("README.md").unwrap_or("");
        for (line, path) in quoted_paths(text) {
            let built = BUILD_OUTPUT.iter().any(|output| path.starts_with(output));
            if !built && !tree.has(path) && !tree.has(&format!("{folder}{path}")) {
                findings.push(Finding::on_line(
                    readme,
                    line,
                    format!("`{path}` does not exist"),
                ));
            }
        }
    }
    findings
}

/// The paths in backticks outside of fenced blocks, with their lines.
fn quoted_paths(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let quoted = line.split('`').skip(1).step_by(2);
            found.extend(quoted.filter_map(|words| Some((at + 1, as_path(words)?))));
        }
    }
    found
}

/// `words` as a path of the project. Patterns such as `filters/*` name no one path.
fn as_path(words: &str) -> Option<&str> {
    let path = words.strip_prefix("./").unwrap_or(words);
    let pattern = |character: char| character.is_whitespace() || "*<>{}".contains(character);
    let known = ROOTS.iter().any(|root| path.starts_with(root));
    (known && !path.contains(pattern)).then_some(path)
}
