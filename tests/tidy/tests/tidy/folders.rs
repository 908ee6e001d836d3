use tidy::{Tree, folders};

use crate::{assert_finds, assert_tidy, project};

const MANIFEST: &str = "[package]\nname = \"x\"";

#[test]
fn every_folder_of_the_project_explains_itself() {
    assert_tidy(&folders::check(&project()));
}

#[test]
fn a_crate_with_readme_and_doc_comment_is_accepted() {
    let tree = Tree::of(&[
        ("tests/x/Cargo.toml", MANIFEST),
        ("tests/x/README.md", "# x"),
        ("tests/x/src/lib.rs", "\n//! What x is.\n"),
        (
            "tests/x/src/main.rs",
            "#![doc = include_str!(\"../README.md\")]\n",
        ),
    ]);
    assert_tidy(&folders::check(&tree));
}

#[test]
fn a_missing_or_empty_readme_is_found() {
    let missing = Tree::of(&[("tests/x/Cargo.toml", MANIFEST)]);
    assert_finds(
        &folders::check(&missing),
        &["tests/x/README.md: missing or empty"],
    );
    let empty = Tree::of(&[
        ("tests/x/Cargo.toml", MANIFEST),
        ("tests/x/README.md", " \n"),
    ]);
    assert_finds(
        &folders::check(&empty),
        &["tests/x/README.md: missing or empty"],
    );
}

#[test]
fn the_groups_of_crates_have_readmes_and_the_shells_none() {
    let tree = Tree::of(&[("filters/modules/x/Cargo.toml", MANIFEST)]);
    assert_finds(
        &folders::check(&tree),
        &["filters/README.md: missing or empty"],
    );
}

#[test]
fn source_without_a_doc_comment_is_found() {
    let tree = Tree::of(&[
        ("tests/x/Cargo.toml", MANIFEST),
        ("tests/x/README.md", "# x"),
        ("tests/x/src/lib.rs", "mod a;\n//! Late."),
        ("tests/x/src/main.rs", ""),
    ]);
    let expected = &[
        "tests/x/src/lib.rs:1: begins without",
        "tests/x/src/main.rs:1: begins",
    ];
    assert_finds(&folders::check(&tree), expected);
}
