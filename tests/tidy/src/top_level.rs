//! The root of the project holds a known set of names.

use std::collections::BTreeSet;

use crate::{Finding, Tree};

/// What may lie in the root, besides dot files.
const ALLOWED: &[&str] = &[
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "clippy.toml",
    "envoy",
    "filters",
    "host-sim",
    "rust-toolchain.toml",
    "scripts",
    "tests",
];

/// Every other name in the root.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let names: BTreeSet<&str> = tree
        .paths()
        .map(|path| path.split('/').next().unwrap_or(path))
        .collect();
    let strange = names
        .into_iter()
        .filter(|name| !ALLOWED.contains(name) && !name.starts_with('.'));
    strange
        .map(|name| Finding::at(name, "has no place in the root of the project"))
        .collect()
}
