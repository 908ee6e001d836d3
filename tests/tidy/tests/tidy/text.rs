use tidy::{Tree, text};

use crate::{assert_finds, assert_tidy, project};

#[test]
fn the_project_holds_no_refused_words_and_no_long_files() {
    assert_tidy(&text::check(&project()));
}

#[track_caller]
fn check(path: &str, line: &str, expected: &[&str]) {
    assert_finds(
        &text::check(&Tree::of(&[(path, &format!("first\n{line}\n"))])),
        expected,
    );
}

#[test]
fn refused_words_are_found_in_any_file() {
    let refused = [
        concat!("see https://crates", ".io/x"),
        concat!("curl pypi", ".org"),
        concat!("cp ../sha", "red/x ."),
        concat!("at /wo", "rk/main"),
        concat!("// TO", "DO: later"),
        concat!("// FIX", "ME"),
        concat!("XX", "X"),
        concat!("to", "do!()"),
        concat!("unimpl", "emented!(\"x\")"),
        concat!("//! (to be ", "written)"),
        concat!("#[ign", "ore]"),
        concat!("#[ign", "ore = \"slow\"]"),
    ];
    for line in refused {
        for path in ["README.md", "scripts/x", "filters/x/src/lib.rs"] {
            check(path, line, &[&format!("{path}:2: ")]);
        }
    }
}

#[test]
fn words_that_only_look_alike_are_accepted() {
    for line in [
        "mktemp /tmp/x.XXXXXX",
        "frame/work/",
        "TODOS",
        "a todo list",
        "#[inline]",
    ] {
        check("README.md", line, &[]);
    }
}

#[test]
fn the_lock_file_names_its_registry() {
    check(
        "Cargo.lock",
        concat!("source = \"crates", ".io-index\""),
        &[],
    );
}

#[test]
fn a_rust_file_over_the_limit_is_found() {
    let allowed = "\n".repeat(text::MAX_LINES);
    let long = "\n".repeat(text::MAX_LINES + 1);
    let tree = Tree::of(&[("a.rs", &allowed), ("b.rs", &long), ("b.md", &long)]);
    assert_finds(&text::check(&tree), &["b.rs: 501 lines"]);
}
