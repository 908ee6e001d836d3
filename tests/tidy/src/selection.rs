//! `cargo test -p CRATE [-- NAME]`: a part of what `scripts/test` runs, so it needs no runner of its
//! own, but what it selects must exist: cargo is content to run no test at all.

use crate::{Tree, manifest, tokens};

/// Runs every test of the workspace.
const WHOLE: (&str, &str) = ("scripts/test", "cargo test --workspace");

/// Whether `command` selects tests of one crate; if so, what is wrong with it.
pub fn check(tree: &Tree, command: &str) -> Option<Result<(), String>> {
    let mut words = command.strip_prefix("cargo test -p ")?.split_whitespace();
    let package = words.next()?;
    let names = match (words.next(), words.next(), words.next()) {
        (None, None, None) => "",
        (Some("--"), Some(name), None) if !name.starts_with('-') => name,
        _ => return None,
    };
    Some(selected(tree, package, names))
}

fn selected(tree: &Tree, package: &str, names: &str) -> Result<(), String> {
    let (script, whole) = WHOLE;
    if !tree.text(script).is_some_and(|text| text.contains(whole)) {
        return Err(format!("is to be run by {script}, which runs no `{whole}`"));
    }
    let (crates, _) = manifest::crates(tree);
    let one = crates.iter().find(|one| one.name == package);
    let folder = &one
        .ok_or_else(|| format!("names no crate of the workspace: {package}"))?
        .folder;
    let strange = names
        .split("::")
        .find(|name| !name.is_empty() && !knows(tree, folder, name));
    match strange {
        Some(name) => Err(format!("selects nothing: {folder} has no {name}")),
        None => Ok(()),
    }
}

/// Whether a crate has a file of this name or the word in its source, as a module or function.
fn knows(tree: &Tree, folder: &str, name: &str) -> bool {
    let inside = format!("{folder}/");
    tree.rust()
        .filter(|(path, _)| path.starts_with(&inside))
        .any(|(path, text)| {
            path.ends_with(&format!("/{name}.rs"))
                || tokens::read(text).iter().any(|token| token.text == name)
        })
}
