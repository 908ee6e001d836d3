//! The table of behaviours and the tests are the same list.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// So many behaviours are promised.
const LEAST: usize = 60;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/all/differential")
}

/// The tests of a file, as `topic::name`.
fn tests_of(topic: &str, source: &str) -> Vec<String> {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    lines
        .windows(2)
        .filter(|pair| pair[0] == "#[test]")
        .filter_map(|pair| pair[1].strip_prefix("fn "))
        .map(|rest| format!("{topic}::{}", rest.trim_end_matches("() {")))
        .collect()
}

#[test]
fn every_behaviour_stands_in_the_table_and_has_a_test() {
    let mut written = BTreeSet::new();
    for entry in fs::read_dir(folder()).expect("the folder is here") {
        let path = entry.expect("the folder can be read").path();
        let topic = path.file_stem().unwrap_or_default().to_string_lossy();
        if path.extension().is_some_and(|kind| kind == "rs") && topic != "table" {
            let source = fs::read_to_string(&path).expect("a source file");
            written.extend(tests_of(&topic, &source));
        }
    }
    let table = fs::read_to_string(folder().join("behaviours.tsv")).expect("the table");
    let mut listed = BTreeSet::new();
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        assert_eq!(cells.len(), 2, "test and behaviour in {row:?}");
        assert!(!cells[1].is_empty(), "{row:?} says what it shows");
        assert!(listed.insert(cells[0].to_owned()), "{row:?} stands twice");
    }

    assert_eq!(listed, written);
    assert!(listed.len() >= LEAST, "{} behaviours", listed.len());
}
