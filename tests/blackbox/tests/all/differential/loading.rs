//! Modules that do not load, and those that load dead.

use blackbox::differential::Case;
use blackbox::plugin::{Plugin, scripted};

/// What every module needs.
const PRELUDE: &str = r#"(memory (export "memory") 1) (func (export "proxy_abi_version_0_2_1"))
    (func (export "malloc") (param i32) (result i32) (i32.const 1024))"#;

/// A plugin of a module that consists of imports, the prelude and the rest.
fn module(folder: &tempfile::TempDir, imports: &str, rest: &str) -> Plugin {
    let text = format!("(module {imports} {PRELUDE} {rest})");
    let path = folder.path().join("module.wasm");
    std::fs::write(&path, wat::parse_str(text).expect("text of a module")).expect("a folder");
    scripted("a", "").with_code(path.to_str().expect("a path of text"))
}

/// Both engines end at their start and say this.
fn is_refused(imports: &str, rest: &str, sentence: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let said = Case::new().filter(module(&folder, imports, rest)).refused();
    assert!(!said.is_empty());
    for said in said {
        assert!(said.contains(sentence), "{said}");
    }
}

#[test]
fn an_import_that_is_not_there_ends_the_start() {
    is_refused(
        r#"(import "env" "proxy_clear_route_cache" (func (result i32)))"#,
        "",
        "Failed to load Wasm module due to a missing import: env.proxy_clear_route_cache",
    );
}

#[test]
fn an_import_with_another_signature_ends_the_start() {
    is_refused(
        r#"(import "wasi_snapshot_preview1" "path_link" (func (param i32 i32 i32 i32 i32 i32 i32) (result i32)))"#,
        "",
        "Failed to load Wasm module due to an import type mismatch: wasi_snapshot_preview1.path_link, want: i32 i32 i32 i32 i32 i32 i32 -> i32, but host exports: i32 i32 i32 i32 i32 i32 -> i32",
    );
}

#[test]
fn an_imported_global_ends_the_start() {
    is_refused(
        r#"(import "env" "__stack_pointer" (global (mut i32)))"#,
        "",
        "Failed to load Wasm module due to a missing import: env.__stack_pointer",
    );
}

#[test]
fn a_callback_with_another_signature_ends_the_start() {
    is_refused(
        "",
        r#"(func (export "proxy_on_done") (param i32))"#,
        "Bad function signature for: proxy_on_done, want: i32 -> i32, but the module exports: i32 -> void",
    );
}

#[test]
fn start_functions_that_touch_the_abi_end_the_start() {
    is_refused(
        r#"(import "env" "proxy_get_log_level" (func $level (param i32) (result i32)))"#,
        r#"(func (export "_initialize") (drop (call $level (i32.const 0))))"#,
        "restricted_callback",
    );
}

#[test]
fn a_trap_where_no_answer_is_asked_for_leaves_a_dead_vm() {
    let folder = tempfile::tempdir().expect("a folder");
    let trap = r#"(func (export "proxy_on_context_create") (param i32 i32) unreachable)"#;
    let seen = Case::new()
        .filter(module(&folder, "", trap))
        .run(|client| drop(client.get("/")));
    assert_eq!(seen.statuses(), [503]);
}

#[test]
fn an_allocator_that_traps_lets_the_call_under_way_return() {
    let folder = tempfile::tempdir().expect("a folder");
    let imports = r#"(import "env" "proxy_get_buffer_bytes" (func $get (param i32 i32 i32 i32 i32) (result i32)))
        (import "env" "proxy_log" (func $log (param i32 i32 i32) (result i32)))"#;
    // The status goes into the text as a digit.
    let rest = r#"(memory (export "memory") 1) (data (i32.const 0) "status  ")
        (func (export "proxy_abi_version_0_2_1"))
        (func (export "malloc") (param i32) (result i32) unreachable)
        (func (export "proxy_on_configure") (param i32 i32) (result i32)
          (i32.store8 (i32.const 7) (i32.add (i32.const 48)
            (call $get (i32.const 6) (i32.const 0) (i32.const 5) (i32.const 32) (i32.const 36))))
          (drop (call $log (i32.const 2) (i32.const 0) (i32.const 8)))
          (i32.const 1))"#;
    let path = folder.path().join("module.wasm");
    let text = format!("(module {imports} {rest})");
    std::fs::write(&path, wat::parse_str(text).expect("text of a module")).expect("a folder");
    let plugin = scripted("a", "").with_code(path.to_str().expect("a path of text"));

    let seen = Case::new()
        .filter(plugin)
        .run(|client| drop(client.get("/")));

    assert_eq!(seen.statuses(), [503]);
}

/// Traps where its root context is made, and says so in `proxy_on_vm_start`, which answers with this number.
fn dead_at_birth(folder: &tempfile::TempDir, answer: &str) -> Plugin {
    let imports = r#"(import "env" "proxy_log" (func $log (param i32 i32 i32) (result i32)))"#;
    let rest = format!(
        r#"(data (i32.const 0) "still there")
        (func (export "proxy_on_context_create") (param i32 i32) unreachable)
        (func (export "proxy_on_vm_start") (param i32 i32) (result i32)
          (drop (call $log (i32.const 4) (i32.const 0) (i32.const 11)))
          {answer})
        (func (export "proxy_on_configure") (param i32 i32) (result i32) (i32.const 0))"#
    );
    module(folder, imports, &rest)
}

#[test]
fn a_root_context_that_died_at_its_birth_is_asked_whether_it_starts_but_not_configured() {
    let folder = tempfile::tempdir().expect("a folder");

    let seen = Case::new()
        .filter(dead_at_birth(&folder, "(i32.const 1)"))
        .run(|client| drop(client.get("/")));

    assert_eq!(seen.statuses(), [503]);
    let said = seen.idle.concat();
    assert!(
        said.iter().any(|line| line.contains("still there")),
        "{said:?}"
    );
}

#[test]
fn a_root_context_that_died_at_its_birth_can_still_refuse_to_start() {
    for answer in ["(i32.const 0)", "unreachable"] {
        let folder = tempfile::tempdir().expect("a folder");
        let refused = Case::new().filter(dead_at_birth(&folder, answer)).refused();
        for said in refused {
            assert!(said.contains("still there"), "{said}");
        }
    }
}
