//! What a module may import and must export. The sentences are Envoy's.

use crate::loading::reason;
use crate::stage::{module, start};
use crate::table::{ENV, WASI, import};

const ABI: &str = r#"(func (export "proxy_abi_version_0_2_1"))"#;
const MEMORY: &str = r#"(memory (export "memory") 1)"#;
const MALLOC: &str = r#"(func (export "malloc") (param i32) (result i32) (i32.const 1024))"#;

#[test]
fn every_import_of_envoys_table_can_be_linked() {
    let imports = |module: &str, table: &[(&str, &str)]| {
        let lines = table
            .iter()
            .map(|(name, kinds)| import(module, name, kinds, ""));
        lines.collect::<Vec<_>>().join("\n")
    };
    for text in [
        imports("env", ENV),
        imports("wasi_snapshot_preview1", WASI),
        imports("wasi_unstable", WASI),
    ] {
        assert!(start(&module(&text, "")).is_ok());
    }
}

#[test]
fn an_import_that_envoy_does_not_have_is_a_load_failure_even_if_it_is_never_called() {
    for (import, name) in [
        (
            r#"(import "env" "proxy_nonsense" (func))"#,
            "env.proxy_nonsense",
        ),
        (
            r#"(import "env" "proxy_clear_route_cache" (func (result i32)))"#,
            "env.proxy_clear_route_cache",
        ),
        (
            r#"(import "env" "proxy_continue_request" (func (result i32)))"#,
            "env.proxy_continue_request",
        ),
        (r#"(import "env" "abort" (func))"#, "env.abort"),
        (
            r#"(import "wasi_snapshot_preview1" "proc_raise" (func (param i32) (result i32)))"#,
            "wasi_snapshot_preview1.proc_raise",
        ),
        (
            r#"(import "wasi" "thread-spawn" (func (param i32) (result i32)))"#,
            "wasi.thread-spawn",
        ),
        (
            r#"(import "env" "proxy_log" (global i32))"#,
            "env.proxy_log",
        ),
        (r#"(import "env" "stack" (global i32))"#, "env.stack"),
        (
            r#"(import "env" "first" (func)) (import "env" "second" (func))"#,
            "env.first",
        ),
    ] {
        assert_eq!(
            reason(&module(import, "")),
            format!("Failed to load Wasm module due to a missing import: {name}")
        );
    }
}

#[test]
fn an_import_with_another_signature_is_a_load_failure() {
    for (import, sentence) in [
        (
            r#"(import "env" "proxy_log" (func (param i64 f32 f64)))"#,
            "env.proxy_log, want: i64 f32 f64 -> void, but host exports: i32 i32 i32 -> i32",
        ),
        (
            r#"(import "env" "proxy_done" (func))"#,
            "env.proxy_done, want: void -> void, but host exports: void -> i32",
        ),
        (
            r#"(import "wasi_snapshot_preview1" "path_link" (func (param i32 i32 i32 i32 i32 i32 i32) (result i32)))"#,
            "wasi_snapshot_preview1.path_link, want: i32 i32 i32 i32 i32 i32 i32 -> i32, but host exports: i32 i32 i32 i32 i32 i32 -> i32",
        ),
    ] {
        assert_eq!(
            reason(&module(import, "")),
            format!("Failed to load Wasm module due to an import type mismatch: {sentence}")
        );
    }
}

#[test]
fn memories_and_tables_are_made_for_whoever_imports_them() {
    for text in [
        format!(r#"(module (import "env" "memory" (memory 2)) {ABI} {MALLOC})"#),
        format!(
            r#"(module (import "other" "m" (memory 2 4)) (export "memory" (memory 0)) {ABI} {MALLOC})"#
        ),
        format!(r#"(module (import "env" "table" (table 2 funcref)) {MEMORY} {ABI} {MALLOC})"#),
    ] {
        assert!(start(&text).unwrap().request(1, &[]).is_some(), "{text}");
    }
}

#[test]
fn a_memory_of_any_name_or_none_at_all_will_do() {
    for memory in [r#"(memory (export "other") 1)"#, "(memory 1)", ""] {
        let text = format!("(module {memory} {ABI} {MALLOC})");
        assert!(start(&text).unwrap().request(1, &[]).is_some(), "{text}");
    }
}

#[test]
fn the_abis_mark_and_an_allocator_are_needed() {
    let mark = "Missing or unknown Proxy-Wasm ABI version";
    for module in [
        "(module)".to_owned(),
        format!(r#"(module (func (export "proxy_abi_version_0_3_0")) {MEMORY} {MALLOC})"#),
        format!(
            r#"(module (global (export "proxy_abi_version_0_2_1") i32 (i32.const 0)) {MEMORY} {MALLOC})"#
        ),
    ] {
        assert_eq!(reason(&module), mark);
    }
    let text = format!("(module {ABI} {MEMORY})");
    assert!(reason(&text).starts_with("Wasm module is missing malloc function"));
    let other =
        r#"(func (export "proxy_on_memory_allocate") (param i32) (result i32) (i32.const 1))"#;
    assert!(start(&format!("(module {ABI} {MEMORY} {other})")).is_ok());
}

#[test]
fn a_module_of_abi_0_2_0_runs_without_the_log_level() {
    let older = r#"(func (export "proxy_abi_version_0_2_0"))"#;
    let level = r#"(import "env" "proxy_get_log_level" (func (param i32) (result i32)))"#;
    assert!(start(&format!("(module {older} {MEMORY} {MALLOC})")).is_ok());
    assert_eq!(
        reason(&format!("(module {level} {older} {MEMORY} {MALLOC})")),
        "Failed to load Wasm module due to a missing import: env.proxy_get_log_level"
    );
}

#[test]
fn an_export_with_another_signature_is_a_load_failure() {
    for (export, sentence) in [
        (
            r#"(func (export "proxy_on_request_headers") (param i32 i32) (result i32) (i32.const 0))"#,
            "proxy_on_request_headers, want: i32 i32 i32 -> i32, but the module exports: i32 i32 -> i32",
        ),
        (
            r#"(func (export "proxy_on_done") (param i32))"#,
            "proxy_on_done, want: i32 -> i32, but the module exports: i32 -> void",
        ),
        (
            r#"(func (export "proxy_on_new_connection") (param i64) (result i32) (i32.const 0))"#,
            "proxy_on_new_connection, want: i32 -> i32, but the module exports: i64 -> i32",
        ),
        (
            r#"(func (export "envoy_on_resolve_dns") (param i32))"#,
            "envoy_on_resolve_dns, want: i32 i32 i32 -> void, but the module exports: i32 -> void",
        ),
        (
            r#"(func (export "_start") (result i32) (i32.const 1))"#,
            "_start, want: void -> void, but the module exports: void -> i32",
        ),
        (
            r#"(func (export "_initialize")) (func (export "main") (result i32) (i32.const 1))"#,
            "main, want: i32 i32 -> i32, but the module exports: void -> i32",
        ),
    ] {
        assert_eq!(
            reason(&module("", export)),
            format!("Bad function signature for: {sentence}")
        );
    }
}

#[test]
fn exports_that_envoy_does_not_look_at_may_be_anything() {
    for export in [
        r#"(func (export "proxy_on_nothing") (param i64))"#,
        r#"(global (export "proxy_on_done") i32 (i32.const 0))"#,
        r#"(func (export "main") (result i64) unreachable)"#,
        r#"(func (export "_initialize")) (func (export "_start") (result i64) unreachable)"#,
    ] {
        assert!(start(&module("", export)).is_ok(), "{export}");
    }
}

#[test]
fn what_cannot_be_instantiated_does_not_load() {
    for module in [
        format!(r#"(module {ABI} {MEMORY} {MALLOC} (data (i32.const 70000) "x"))"#),
        format!("(module {ABI} {MEMORY} {MALLOC} (func $s unreachable) (start $s))"),
        format!(r#"(module {ABI} {MALLOC} (memory (export "memory") 20000))"#),
    ] {
        let reason = reason(&module);
        assert!(
            reason.starts_with("Failed to create new Wasm instance"),
            "{reason}"
        );
    }
}
