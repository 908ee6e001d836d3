use std::fs;

use tempfile::TempDir;
use tidy::{Finding, Tree, modules};

use crate::{assert_finds, assert_tidy, project, root};

/// A module with what every module has, and these lines.
fn module(lines: &str) -> Vec<u8> {
    let text = format!(
        r#"(module
            (import "env" "proxy_log" (func $log (param i32 i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "random_get" (func (param i32 i32) (result i32)))
            {lines}
            (memory (export "memory") 1)
            (func $f)
            (export "_initialize" (func $f))
            (export "proxy_on_request_headers" (func $f)))"#
    );
    wat::parse_str(text).expect("the module is well-formed")
}

/// Checks `module` as `envoy/modules/alias.wasm`, with these callbacks listed in its source.
fn check(module: Option<&[u8]>, source: &str) -> Vec<Finding> {
    let root = TempDir::new().expect("a temporary folder");
    if let Some(bytes) = module {
        let folder = root.path().join("envoy/modules");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("alias.wasm"), bytes).expect("a file");
    }
    modules::check(
        root.path(),
        &Tree::of(&[("filters/modules/alias/src/lib.rs", source)]),
    )
}

const SOURCE: &str = "module!(Alias, callbacks: b\"request_headers\");";

#[test]
fn what_ships_exports_what_it_lists_and_imports_what_envoy_offers() {
    assert_tidy(&modules::check(&root(), &project()));
}

#[test]
fn a_module_as_listed_is_accepted() {
    assert_tidy(&check(Some(&module("")), SOURCE));
}

#[test]
fn a_missing_module_says_how_to_build_it() {
    let findings = check(None, SOURCE);
    assert_finds(&findings, &["envoy/modules/alias.wasm: "]);
    assert!(
        findings[0].reason.ends_with("run scripts/build-filters"),
        "{}",
        findings[0]
    );
}

#[test]
fn exports_and_listed_callbacks_must_be_the_same() {
    let none = "module!(Alias, callbacks: b\"\");";
    assert_finds(
        &check(Some(&module("")), none),
        &["exports proxy_on_request_headers, which"],
    );
    let two = "module!(Alias, callbacks: b\"request_headers done\");";
    assert_finds(
        &check(Some(&module("")), two),
        &["does not export proxy_on_done"],
    );
    assert_finds(
        &check(Some(&module("")), "fn main() {}"),
        &["lists no callbacks"],
    );
}

#[test]
fn an_import_that_envoy_does_not_offer_is_found() {
    let imports = [
        ("env", "proxy_get_configuration"),
        ("env", "log"),
        ("wasi_snapshot_preview1", "proc_raise"),
        ("wbg", "proxy_log"),
    ];
    for (from, name) in imports {
        let module = module(&format!("(import \"{from}\" \"{name}\" (func))"));
        assert_finds(
            &check(Some(&module), SOURCE),
            &[&format!("imports {from}.{name}, which")],
        );
    }
}

#[test]
fn bytes_that_are_no_module_are_found() {
    assert_finds(&check(Some(b"not wasm"), SOURCE), &["is not a wasm module"]);
}

#[test]
fn paths_of_the_build_machine_and_the_feature_of_tests_are_found() {
    let texts = [
        "/root/.cargo/x",
        "/home/a/.cargo/registry",
        concat!("/wo", "rk/a"),
        "test-hooks",
    ];
    for text in texts {
        let module = module(&format!("(data (i32.const 0) \"{text}\") (memory 1)"));
        let findings = modules::giveaways("alias.wasm", &module, &[]);
        assert!(!findings.is_empty(), "{text} is found");
    }
    let findings = modules::giveaways(
        "alias.wasm",
        b"at /home/a/clone/filters/x",
        &["/home/a/clone"],
    );
    assert_finds(&findings, &["alias.wasm: holds the text /home/a/clone"]);
    assert_tidy(&modules::giveaways(
        "alias.wasm",
        &module(""),
        &["/home/a/clone"],
    ));
}
