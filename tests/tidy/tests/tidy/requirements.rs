use tidy::requirements::{self, PATH, SOURCES};
use tidy::{Finding, Tree};

use crate::{assert_finds, assert_tidy, project};

const TEST: (&str, &str) = (
    "tests/blackbox/tests/failover.rs",
    "#[test] fn a_refused_connection_moves_on() {}",
);

/// A table that promises, with these rows.
fn check(rows: &[&str]) -> Vec<Finding> {
    let table = format!("id\tstatus\tproof\tbehaviour\n{}\n", rows.join("\n"));
    requirements::check(&Tree::of(&[(PATH, &table), TEST]), &[("A", 2)])
}

#[test]
fn every_promise_has_a_row_and_every_done_row_its_tests() {
    assert_tidy(&requirements::check(&project(), SOURCES));
}

#[test]
fn rows_of_each_status_are_accepted() {
    assert_tidy(&check(&[
        "A-1\tplanned\t-\tb",
        "A-2\toutside\tthe control plane\tb",
    ]));
    let both = "blackbox::a_refused_connection_moves_on, \
                blackbox::failover::a_refused_connection_moves_on";
    assert_tidy(&check(&[
        &format!("A-1\tdone\t{both}\tb"),
        "A-2\tplanned\t-\tb",
    ]));
}

#[test]
fn missing_doubled_and_unknown_rows_are_found() {
    assert_finds(&check(&["A-1\tplanned\t-\tb"]), &["A-2 is missing"]);
    let rows = [
        "A-1\tplanned\t-\tb",
        "A-2\tplanned\t-\tb",
        "A-1\tplanned\t-\tb",
        "B-1\tplanned\t-\tb",
    ];
    assert_finds(
        &check(&rows),
        &[":4: A-1 is doubled", ":5: B-1 is doubled or unknown"],
    );
}

#[track_caller]
fn second_row(row: &str, expected: &str) {
    assert_finds(
        &check(&["A-1\tplanned\t-\tb", row]),
        &[&format!(":3: {expected}")],
    );
}

#[test]
fn a_done_row_without_an_existing_test_is_found() {
    second_row("A-2\tdone\t-\tb", "A-2: a done row names its tests");
    second_row(
        "A-2\tdone\tblackbox::gone\tb",
        "A-2: there is no test blackbox::gone",
    );
    let elsewhere = "mock-worker::a_refused_connection_moves_on";
    second_row(
        &format!("A-2\tdone\t{elsewhere}\tb"),
        "A-2: there is no test mock-worker::",
    );
    second_row(
        "A-2\tdone\ta_refused_connection_moves_on\tb",
        "A-2: there is no test a_refused",
    );
}

#[test]
fn a_row_that_says_too_little_is_found() {
    second_row("A-2\toutside\t-\tb", "A-2: an outside row says why");
    second_row(
        "A-2\tplanned\tsoon\tb",
        "A-2: a planned row has the proof `-`",
    );
    second_row("A-2\tready\t-\tb", "A-2: ready is none of");
    second_row("A-2\tplanned\t-\t ", "A-2 says no behaviour");
}

#[test]
fn a_broken_or_missing_table_is_found() {
    let rows = ["A-1\tplanned\t-\tb", "A-2\tplanned\tb"];
    assert_finds(
        &check(&rows),
        &[":3: a row has four columns", "A-2 is missing"],
    );
    assert_finds(
        &requirements::check(&Tree::of(&[]), &[]),
        &["requirements.tsv: is missing"],
    );
    let tree = Tree::of(&[(PATH, "id status\n")]);
    assert_finds(&requirements::check(&tree, &[]), &[":1: the header is not"]);
}
