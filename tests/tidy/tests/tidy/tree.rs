use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use tidy::Tree;

fn write(root: &Path, files: &[&str]) {
    for file in files {
        let path = root.join(file);
        fs::create_dir_all(path.parent().expect("a file in a folder")).expect("a folder");
        fs::write(path, "text").expect("a file");
    }
}

fn paths(root: &Path) -> Vec<String> {
    Tree::open(root)
        .expect("the tree can be read")
        .paths()
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_clone_is_what_git_tracks_or_would_track() {
    let root = TempDir::new().expect("a temporary folder");
    write(root.path(), &["a.rs", "target/b.rs", "notes.md"]);
    fs::write(root.path().join(".gitignore"), "/target/\n").expect("a file");
    let init = Command::new("git")
        .args(["init", "--quiet"])
        .current_dir(root.path())
        .status();
    assert!(init.expect("git runs").success());
    assert_eq!(paths(root.path()), [".gitignore", "a.rs", "notes.md"]);
}

#[test]
fn without_git_all_but_build_output_counts() {
    let root = TempDir::new().expect("a temporary folder");
    write(
        root.path(),
        &[
            "src/a.rs",
            "target/b.rs",
            ".tools/envoy",
            "envoy/modules/a.wasm",
        ],
    );
    write(root.path(), &["envoy/envoy.yaml", ".ci/run"]);
    assert_eq!(
        paths(root.path()),
        [".ci/run", "envoy/envoy.yaml", "src/a.rs"]
    );
}

#[test]
fn a_file_that_is_no_text_has_a_path_only() {
    let root = TempDir::new().expect("a temporary folder");
    fs::write(root.path().join("image"), b"\xff\xfe").expect("a file");
    let tree = Tree::open(root.path()).expect("the tree can be read");
    assert!(tree.has("image"));
    assert_eq!(tree.text("image"), None);
}

#[test]
fn a_folder_is_there_when_a_file_is_in_it() {
    let tree = Tree::of(&[("filters/alias/src/lib.rs", "")]);
    assert!(tree.has("filters/alias/") && tree.has("filters/alias/src/lib.rs"));
    assert!(!tree.has("filters/al") && !tree.has("alias"));
}
