use tidy::commands::{self, COMMANDS, Command, RunBy};
use tidy::{Finding, Tree};

use crate::{assert_finds, assert_tidy, project};

const KNOWN: &[Command] = &[
    ("./go", RunBy::Test("it_goes")),
    ("./go --far", RunBy::Test("it_goes_far")),
    ("./prove", RunBy::Script(".ci/run")),
    ("./prove --all", RunBy::Script(".ci/run")),
    ("./gone", RunBy::Script(".ci/gone")),
];

fn check(readme: &str) -> Vec<Finding> {
    let files = [
        ("README.md", readme),
        (
            "tests/x/tests/all.rs",
            "#[test] fn it_goes() { \"fn it_goes_far() {}\"; }",
        ),
        (".ci/run", "exec ./prove\n"),
    ];
    commands::check(&Tree::of(&files), KNOWN)
}

#[test]
fn every_command_of_the_readmes_is_run() {
    assert_tidy(&commands::check(&project(), COMMANDS));
}

#[test]
fn a_command_that_a_test_or_script_runs_is_accepted() {
    assert_tidy(&check(
        "```sh\n# first\n./go\n\n$ ./prove   # all of it\n```\n",
    ));
}

#[test]
fn other_blocks_hold_no_commands() {
    assert_tidy(&check("```json\n./fly\n```\n./fly\n```\n./fly\n```\n"));
}

#[test]
fn a_command_that_nothing_runs_is_found() {
    let reason = "README.md:2: `./fly` is run by no test; name what runs it in COMMANDS";
    assert_finds(&check("```sh\n./fly\n```"), &[reason]);
    assert_finds(&check("```console\n./fly\n```"), &[reason]);
    assert_finds(
        &check("```sh\n./go \\\n  --fast\n```"),
        &["README.md:2: `./go --fast` is run by"],
    );
}

#[test]
fn a_runner_that_is_missing_is_found() {
    let test = "`./go --far` is to be run by the test it_goes_far, which is missing";
    assert_finds(&check("```sh\n./go --far\n```"), &[test]);
    let text = "`./prove --all` is to be run by .ci/run, which does not";
    assert_finds(&check("```sh\n./prove --all\n```"), &[text]);
    assert_finds(
        &check("```sh\n./gone\n```"),
        &["run by .ci/gone, which is missing"],
    );
}

/// Checks a README that shows `command`, in a project with the crate `x` whose tests run as a whole.
fn check_selection(command: &str, script: &str) -> Vec<Finding> {
    let files = [
        ("README.md", format!("```sh\n{command}\n```\n")),
        ("scripts/test", script.to_owned()),
        ("tests/x/Cargo.toml", "[package]\nname = \"x\"".to_owned()),
        (
            "tests/x/tests/failover.rs",
            "mod slow { fn it_goes() {} }".to_owned(),
        ),
    ];
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (*path, text.as_str()))
        .collect();
    commands::check(&Tree::of(&files), KNOWN)
}

const WHOLE: &str = "cargo test --workspace --quiet";

#[test]
fn a_part_of_all_tests_is_accepted() {
    for names in ["", " -- failover::", " -- slow::it_goes"] {
        assert_tidy(&check_selection(&format!("cargo test -p x{names}"), WHOLE));
    }
}

#[test]
fn a_part_that_selects_nothing_is_found() {
    let none = "names no crate of the workspace: y";
    assert_finds(&check_selection("cargo test -p y", WHOLE), &[none]);
    let nothing = "selects nothing: tests/x has no fast";
    assert_finds(
        &check_selection("cargo test -p x -- fast::", WHOLE),
        &[nothing],
    );
    assert_finds(
        &check_selection("cargo test -p x", "cargo test -p y"),
        &["runs no `cargo test"],
    );
    assert_finds(
        &check_selection("cargo test -p x --release", WHOLE),
        &["is run by no test"],
    );
}
