//! Scenario files, and the traces beside them.

use std::fs;
use std::path::{Path, PathBuf};

/// Most scenarios of one run: more come from a folder that was not meant.
const MAX_FILES: usize = 10_000;
/// Deepest folder below one that was named.
const MAX_DEPTH: usize = 8;

/// One scenario file.
#[derive(Clone, Debug)]
pub struct File {
    /// As it was named, or found in a folder that was.
    pub path: PathBuf,
    /// What stands in it.
    pub text: String,
}

/// All scenarios of files and folders, those of a folder by name.
///
/// # Errors
/// A path cannot be read, or a folder has none.
pub fn scenarios(paths: &[PathBuf]) -> Result<Vec<File>, String> {
    let mut found = Vec::new();
    for path in paths {
        let before = found.len();
        collect(path, 0, &mut found)?;
        if found.len() == before {
            return Err(format!("{}: has no .yaml file", path.display()));
        }
    }
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
        Ok(File { path, text })
    };
    found.into_iter().map(read).collect()
}

fn collect(path: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), String> {
    if !path.is_dir() {
        found.push(path.to_owned());
        return Ok(());
    }
    if depth > MAX_DEPTH {
        return Err(format!(
            "{}: is nested deeper than {MAX_DEPTH} folders",
            path.display()
        ));
    }
    let entries = fs::read_dir(path).map_err(|error| unreadable(path, &error))?;
    let mut inside = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| unreadable(path, &error))?.path();
        let is_yaml = entry
            .extension()
            .is_some_and(|ending| ending == "yaml" || ending == "yml");
        if entry.is_dir() || is_yaml {
            inside.push(entry);
        }
    }
    inside.sort();
    for entry in inside {
        collect(&entry, depth + 1, found)?;
        if found.len() > MAX_FILES {
            return Err(format!(
                "{}: has more than {MAX_FILES} scenarios",
                path.display()
            ));
        }
    }
    Ok(())
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    format!("cannot read {}: {error}", path.display())
}

/// The golden trace beside a scenario, if it has one.
///
/// # Errors
/// It is there and cannot be read.
pub fn golden(scenario: &Path) -> Result<Option<String>, String> {
    let path = scenario.with_extension("trace");
    match path.exists() {
        true => fs::read_to_string(&path)
            .map(Some)
            .map_err(|error| unreadable(&path, &error)),
        false => Ok(None),
    }
}

/// Where the trace of a scenario goes in a folder.
pub fn trace_in(folder: &Path, scenario: &Path) -> PathBuf {
    let name = scenario.with_extension("trace");
    folder.join(name.file_name().unwrap_or(name.as_os_str()))
}

/// Writes a file, with its folders.
///
/// # Errors
/// It cannot be written.
pub fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let made = folder.map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(path, text))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}
