//! The crates of the workspace, as their manifests describe them.

use toml::{Table, Value};

use crate::{Finding, Tree};

const KINDS: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// One crate of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crate {
    /// The folder of its manifest, from the root.
    pub folder: String,
    /// The name of the package.
    pub name: String,
    /// The packages it names, of every kind and target.
    pub dependencies: Vec<String>,
}

/// Reads every manifest with a `[package]`. A manifest that is not TOML is a finding.
pub fn crates(tree: &Tree) -> (Vec<Crate>, Vec<Finding>) {
    let mut crates = Vec::new();
    let mut findings = Vec::new();
    let shared = tree
        .text("Cargo.toml")
        .and_then(|text| text.parse().ok())
        .unwrap_or_default();
    for (path, text) in tree.texts() {
        let Some(folder) = path.strip_suffix("/Cargo.toml") else {
            continue;
        };
        match text.parse::<Table>() {
            Ok(manifest) => crates.extend(read(folder, &manifest, &shared)),
            Err(error) => findings.push(Finding::at(path, error.message())),
        }
    }
    (crates, findings)
}

fn read(folder: &str, manifest: &Table, shared: &Table) -> Option<Crate> {
    let name = manifest.get("package")?.get("name")?.as_str()?.to_owned();
    let mut dependencies = named(manifest, shared);
    if let Some(targets) = manifest.get("target").and_then(Value::as_table) {
        for target in targets.values().filter_map(Value::as_table) {
            dependencies.extend(named(target, shared));
        }
    }
    Some(Crate {
        folder: folder.to_owned(),
        name,
        dependencies,
    })
}

/// The packages of the dependency tables in `table`, by their real names.
fn named(table: &Table, shared: &Table) -> Vec<String> {
    let tables = KINDS.iter().filter_map(|kind| table.get(*kind)?.as_table());
    tables
        .flatten()
        .map(|(key, value)| package(key, value, shared).to_owned())
        .collect()
}

/// `package = "..."` here or in the workspace's table says what `key` really is.
fn package<'a>(key: &'a str, value: &'a Value, shared: &'a Table) -> &'a str {
    let shared = || {
        shared
            .get("workspace")?
            .get("dependencies")?
            .get(key)?
            .get("package")?
            .as_str()
    };
    let own = value.get("package").and_then(Value::as_str);
    own.or_else(shared).unwrap_or(key)
}
