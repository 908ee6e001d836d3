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
