use tidy::{Tree, code_map};

use crate::{assert_finds, assert_tidy, project};

#[test]
fn every_path_in_the_readmes_of_the_project_exists() {
    assert_tidy(&code_map::check(&project()));
}

#[track_caller]
fn check(readme: &str, text: &str, expected: &[&str]) {
    let files = [
        (readme, text),
        ("filters/alias/src/lib.rs", ""),
        ("scripts/run", ""),
    ];
    assert_finds(&code_map::check(&Tree::of(&files)), expected);
}

#[test]
fn files_and_folders_that_exist_are_accepted() {
    check(
        "README.md",
        "`filters/` `filters/alias` `filters/alias/src/lib.rs` `./scripts/run`",
        &[],
    );
    check("filters/README.md", "see `filters/alias/`", &[]);
}

#[test]
fn a_path_may_begin_at_the_folder_of_the_readme() {
    let files = [
        ("host-sim/README.md", "`envoy/src/lib.rs`"),
        ("host-sim/envoy/src/lib.rs", ""),
    ];
    assert_tidy(&code_map::check(&Tree::of(&files)));
}

#[test]
fn a_path_that_leads_nowhere_is_found() {
    check(
        "README.md",
        "one\n`filters/gone` and `./scripts/walk`",
        &[
            "README.md:2: `filters/gone` does not exist",
            "README.md:2: `scripts/walk` does not exist",
        ],
    );
    check(
        "filters/alias/README.md",
        "`filters/al`",
        &["filters/alias/README.md:1: `filters/al`"],
    );
}

#[test]
fn commands_patterns_build_output_and_other_words_are_no_paths() {
    check(
        "README.md",
        "`scripts/walk --fast` `filters/*` `envoy/modules/a.wasm` `/v1/x` `a/b`",
        &[],
    );
    check("README.md", "```text\n`filters/gone`\n```\n", &[]);
    check("notes.md", "`filters/gone`", &[]);
}
