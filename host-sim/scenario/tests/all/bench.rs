//! The table of instructions, and what counts as a change.

use host_sim_scenario::Setup;
use host_sim_scenario::bench::{Comparison, Table, Verdict, measure};

/// A table with these rows of one request and filter: callback and instructions.
fn table(rows: &[(&str, u64)]) -> Table {
    let rows = rows
        .iter()
        .map(|(callback, instructions)| format!("chat\tauth\t{callback}\t1\t{instructions}\n"));
    let text = format!(
        "request\tfilter\tcallback\tcalls\tinstructions\n{}",
        rows.collect::<String>()
    );
    Table::read(&text).unwrap()
}

fn verdict(before: &[(&str, u64)], after: &[(&str, u64)]) -> Verdict {
    Comparison::new(&table(before), &table(after)).verdict()
}

#[test]
fn two_measurements_give_the_same_numbers() {
    let Setup { modules, cache, .. } = Setup::default();
    let first = measure(&modules, cache.clone()).unwrap();
    assert_eq!(first, measure(&modules, cache).unwrap());
    assert_eq!(Table::read(&first.to_text()), Ok(first));
}

#[test]
fn a_rise_counts_from_five_percent_on() {
    for (before, after, expected) in [
        (10_000, 10_500, Verdict::Same),
        (10_000, 10_501, Verdict::Rose),
        (10_000, 9_500, Verdict::Same),
        (10_000, 9_499, Verdict::Fell),
        // A change of half a hundred instructions is no change.
        (100, 150, Verdict::Same),
        (100, 151, Verdict::Rose),
        (0, 51, Verdict::Rose),
    ] {
        let found = verdict(&[("log", before)], &[("log", after)]);
        assert_eq!(found, expected, "{before} -> {after}");
    }
}

#[test]
fn a_callback_that_is_new_counts_as_a_rise_and_one_that_is_gone_as_a_fall() {
    let one = [("log", 10)];
    let two = [("log", 10), ("done", 1)];
    assert_eq!(verdict(&one, &two), Verdict::Rose);
    assert_eq!(verdict(&two, &one), Verdict::Fell);
}

#[test]
fn one_rise_weighs_more_than_many_falls() {
    let before = [("log", 10_000), ("done", 10_000)];
    let after = [("log", 10_600), ("done", 100)];
    assert_eq!(verdict(&before, &after), Verdict::Rose);
}

#[test]
fn the_difference_names_what_rose_and_by_how_much() {
    let comparison = Comparison::new(
        &table(&[("log", 1000), ("done", 10)]),
        &table(&[("log", 1065), ("done", 10)]),
    );
    let line = comparison.to_string();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(
        words,
        [
            "+", "chat,", "auth", "log", "1000", "->", "1065", "+6.5", "%"
        ]
    );
}

#[test]
fn a_text_that_is_no_table_is_refused_with_its_line() {
    for (text, line) in [
        ("", 1),
        ("something else\n", 1),
        (
            "request\tfilter\tcallback\tcalls\tinstructions\nchat\tauth\tlog\t1\t2\nchat\n",
            3,
        ),
        (
            "request\tfilter\tcallback\tcalls\tinstructions\nchat\tauth\tlog\t1\tmany\n",
            2,
        ),
    ] {
        assert_eq!(Table::read(text).unwrap_err().line, line, "{text:?}");
    }
}
