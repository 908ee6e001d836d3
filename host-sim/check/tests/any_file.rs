//! Whatever a file says, the check comes to an end and names lines that the file has.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails stops"
)]

use host_sim_check::{Input, Options, check};
use proptest::prelude::*;

const YAML: &str = include_str!("../../../envoy/envoy.yaml");
const JSON: &str = include_str!("../../../envoy/gateway.json");

/// A change of a text.
#[derive(Clone, Debug)]
enum Change {
    /// The rest is lost.
    Cut(usize),
    /// A line is lost.
    WithoutLine(usize),
    /// A line is there twice.
    LineTwice(usize),
    /// Something stands in the middle of a line.
    Insert(usize, String),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let at = || any::<prop::sample::Index>().prop_map(|index| index.index(1 << 16));
    let change = prop_oneof![
        at().prop_map(Change::Cut),
        at().prop_map(Change::WithoutLine),
        at().prop_map(Change::LineTwice),
        (at(), "[\\[\\]{}:,*&|\"'é 0-9a-z-]{1,4}").prop_map(|(at, text)| Change::Insert(at, text)),
    ];
    prop::collection::vec(change, 1..4)
}

fn changed(text: &str, changes: &[Change]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for change in changes {
        let count = lines.len().max(1);
        match change {
            Change::Cut(at) => lines.truncate(at % count),
            Change::WithoutLine(at) if !lines.is_empty() => drop(lines.remove(at % count)),
            Change::LineTwice(at) if !lines.is_empty() => {
                let line = lines[at % count].clone();
                lines.insert(at % count, line);
            }
            Change::Insert(at, text) if !lines.is_empty() => {
                let line = &mut lines[at % count];
                let middle = line
                    .char_indices()
                    .nth(at / count % 20)
                    .map_or(0, |(at, _)| at);
                line.insert_str(middle, text);
            }
            _ => {}
        }
    }
    lines.join("\n")
}

proptest! {
    #[test]
    fn a_changed_file_is_checked_to_its_end(changes in changes(), json in any::<bool>()) {
        let (name, text) = if json { ("gateway.json", JSON) } else { ("envoy.yaml", YAML) };
        let text = changed(text, &changes);
        let input = Input { name: name.to_owned(), text: text.clone() };
        let report = check(&[input], &Options::default());
        let lines = 1 + text.lines().count();
        for finding in report.findings().iter().filter(|finding| finding.file == name) {
            prop_assert!((1..=lines).contains(&finding.line), "{finding:?}");
            prop_assert!(!finding.what.is_empty() && !finding.fix.is_empty());
        }
    }
}
