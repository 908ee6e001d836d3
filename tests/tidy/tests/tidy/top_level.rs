use tidy::{Tree, top_level};

use crate::{assert_finds, assert_tidy, project};

#[test]
fn the_root_of_the_project_holds_known_names_only() {
    assert_tidy(&top_level::check(&project()));
}

#[test]
fn a_strange_file_or_folder_in_the_root_is_found() {
    let files = [
        "Cargo.toml",
        ".ci/run",
        "filters/x/notes",
        "notes.md",
        "src/lib.rs",
        "src/a.rs",
    ];
    let tree = Tree::of(&files.map(|path| (path, "")));
    assert_finds(
        &top_level::check(&tree),
        &["notes.md: has no place", "src: has no place"],
    );
}
