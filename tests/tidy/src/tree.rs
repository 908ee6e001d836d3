//! The files of a project, read once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use crate::tokens::{self, Token};

/// Folders of build output, passed over where git cannot say what belongs to the project.
const BUILD_OUTPUT: &[&str] = &[
    ".git",
    ".tools",
    "envoy/modules",
    "target",
    "tests/bench/target",
    "tests/fuzz/target",
    "tests/fuzz/corpus",
];

/// Folders whose functions may be named as the proof of a promise.
const PROVING: &[&str] = &["tests/", "host-sim/", "filters/"];

/// The files of a project: path from the root, with `/`, to text. A file that is not UTF-8 has none.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    files: BTreeMap<String, Option<String>>,
}

impl Tree {
    /// The project at `root`: what git tracks or would track. Outside of a git clone, everything
    /// but build output.
    ///
    /// # Errors
    /// A folder or file that cannot be read.
    pub fn open(root: &Path) -> io::Result<Tree> {
        let paths = match listed_by_git(root) {
            Some(paths) => paths,
            None => walked(root)?,
        };
        let mut files = BTreeMap::new();
        for path in paths {
            let whole = root.join(&path);
            // Git lists deleted files and links to folders too.
            if whole.is_file() {
                files.insert(path, String::from_utf8(fs::read(whole)?).ok());
            }
        }
        Ok(Tree { files })
    }

    /// A made-up project.
    pub fn of(files: &[(&str, &str)]) -> Tree {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), Some((*text).to_owned()));
        Tree {
            files: files.iter().map(owned).collect(),
        }
    }

    /// All paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// All files that are text.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// All Rust files.
    pub fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(|(path, _)| path.ends_with(".rs"))
    }

    /// All `README.md` files, of any folder.
    pub fn readmes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts()
            .filter(|(path, _)| *path == "README.md" || path.ends_with("/README.md"))
    }

    /// The text of one file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Whether `path` is a file or a folder with files in it.
    pub fn has(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        self.files.contains_key(path) || self.paths().any(|file| file.starts_with(&folder))
    }

    /// The functions that can prove something: name to the files that define it.
    pub fn functions(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (path, text) in self.rust() {
            if PROVING.iter().any(|folder| path.starts_with(folder)) {
                for name in function_names(&tokens::read(text)) {
                    found.entry(name).or_default().push(path);
                }
            }
        }
        found
    }
}

fn function_names<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let pairs = tokens.iter().zip(tokens.iter().skip(1));
    pairs
        .filter(|(word, _)| word.text == "fn")
        .map(|(_, name)| name.text)
        .collect()
}

/// None when `root` is not a clone or there is no git.
fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        // A hook that runs the tests sets these for its own repository.
        .env_remove("GIT_DIR")
        .env_remove("GIT_INDEX_FILE")
        .env_remove("GIT_WORK_TREE")
        .output()
        .ok()?;
    let names = String::from_utf8(output.stdout).ok()?;
    let paths: Vec<String> = names
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    (output.status.success() && !paths.is_empty()).then_some(paths)
}

fn walked(root: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            let name = path.to_string_lossy().replace('\\', "/");
            if BUILD_OUTPUT.contains(&name.as_str()) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else {
                found.push(name);
            }
        }
    }
    Ok(found)
}
