//! A folder that is an idea explains itself: a `README.md`, and a first line in its source.

use crate::{Finding, Tree, manifest};

/// Folders of several crates that are an idea of their own.
const GROUPS: &[&str] = &["filters", "host-sim"];

/// Shells of a line each; their filter's README speaks for them.
const SHELLS: &str = "filters/modules/";

/// How a source file begins when it says what it is.
const DOCS: &[&str] = &["//!", "#![doc = include_str!(\"../README.md\")]"];

/// Every crate without a README or whose source begins without a doc comment.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let (crates, _) = manifest::crates(tree);
    let mut findings = Vec::new();
    let folders = crates.iter().map(|one| one.folder.as_str());
    let groups = GROUPS.iter().copied().filter(|folder| tree.has(folder));
    for folder in folders
        .clone()
        .filter(|folder| !folder.starts_with(SHELLS))
        .chain(groups)
    {
        let readme = format!("{folder}/README.md");
        if tree.text(&readme).is_none_or(|text| text.trim().is_empty()) {
            findings.push(Finding::at(
                readme,
                "missing or empty; say what this folder is",
            ));
        }
    }
    for folder in folders {
        for file in ["src/lib.rs", "src/main.rs"] {
            let path = format!("{folder}/{file}");
            let silent = |text: &str| !DOCS.iter().any(|docs| text.trim_start().starts_with(docs));
            if tree.text(&path).is_some_and(silent) {
                findings.push(Finding::on_line(
                    path,
                    1,
                    "begins without a `//!` doc comment",
                ));
            }
        }
    }
    findings
}
