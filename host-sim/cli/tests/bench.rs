//! `host-sim bench` as CI uses it, with the shipped modules.

mod shared;

use std::process::Output;

use shared::{host_sim, repository};

fn bench(arguments: &[&str]) -> Output {
    host_sim("bench").args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The committed table with one number changed, in a folder of its own.
fn changed(change: fn(u64) -> u64) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.tsv");
    let table = std::fs::read_to_string(repository().join("filters/instructions.tsv")).unwrap();
    let mut lines: Vec<String> = table.lines().map(str::to_owned).collect();
    let line = lines
        .iter_mut()
        .find(|line| line.starts_with("streamed chat\tattempt\trequest_headers\t"))
        .unwrap();
    let (before, number) = line.rsplit_once('\t').unwrap();
    *line = format!("{before}\t{}", change(number.parse().unwrap()));
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let path = path.to_string_lossy().into_owned();
    (folder, path)
}

#[test]
fn the_filters_cost_what_the_committed_table_says() {
    let output = bench(&["--check"]);
    assert!(
        output.status.success(),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
}

#[test]
fn a_rise_fails_and_shows_the_number() {
    let (_folder, path) = changed(|number| number / 2);
    let output = bench(&["--check", "--table", &path]);
    assert_eq!(output.status.code(), Some(1));
    let difference = text(&output.stdout);
    assert!(
        difference.starts_with("+ streamed chat, attempt request_headers"),
        "{difference}"
    );
    assert!(text(&output.stderr).contains("host-sim bench --update"));
}

#[test]
fn a_fall_passes_and_asks_for_another_table() {
    let (_folder, path) = changed(|number| number * 2);
    let output = bench(&["--check", "--table", &path]);
    assert!(output.status.success());
    let said = text(&output.stdout);
    assert!(
        said.starts_with("- streamed chat, attempt request_headers"),
        "{said}"
    );
    assert!(
        said.contains("renew it with host-sim bench --update"),
        "{said}"
    );
}

#[test]
fn an_update_writes_what_a_check_then_accepts() {
    let (_folder, path) = changed(|number| number / 2);
    assert!(bench(&["--update", "--table", &path]).status.success());
    assert!(bench(&["--check", "--table", &path]).status.success());
}

#[test]
fn a_table_or_modules_that_are_not_there_are_named() {
    for arguments in [
        ["--check", "--table", "/nowhere/table.tsv"],
        ["--check", "--modules", "/nowhere"],
    ] {
        let output = bench(&arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains("/nowhere"), "{arguments:?}");
    }
}
