//! Which modules load.

use std::sync::Arc;

use host_sim_host::StartError;
use host_sim_vm::Modules;

use crate::stage::{SMALL, module, start, start_with};

fn reason(text: &str) -> String {
    match start(text) {
        Err(StartError::Load(error)) => error.reason,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it loaded"),
    }
}

fn refusal(text: &str) -> Vec<String> {
    match start(text) {
        Err(StartError::Refused { plugin, log }) => {
            assert_eq!(plugin, "guest");
            log
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it started"),
    }
}

#[test]
fn a_guest_without_callbacks_lets_everything_pass() {
    let mut stage = start(&module("", "")).unwrap();
    assert!(stage.request(1, &[]).is_some());
}

#[test]
fn an_import_that_envoy_does_not_have_is_a_load_failure_even_if_it_is_never_called() {
    for import in [
        r#"(import "env" "proxy_nonsense" (func))"#,
        r#"(import "env" "proxy_log" (func (param i32)))"#,
        r#"(import "env" "proxy_clear_route_cache" (func (result i32)))"#,
        r#"(import "wasi_snapshot_preview1" "proc_raise" (func (param i32) (result i32)))"#,
        r#"(import "env" "stack" (global i32))"#,
    ] {
        let name = import.split('"').nth(3).unwrap();
        let reason = reason(&module(import, ""));
        assert!(reason.contains(name), "{reason}");
    }
}

#[test]
fn every_import_of_the_abi_can_be_linked() {
    let imports = r#"
        (import "env" "proxy_get_status" (func (param i32 i32 i32) (result i32)))
        (import "env" "proxy_http_call" (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
        (import "env" "proxy_grpc_call" (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
        (import "env" "proxy_increment_metric" (func (param i32 i64) (result i32)))
        (import "env" "proxy_register_shared_queue" (func (param i32 i32 i32) (result i32)))
        (import "env" "proxy_call_foreign_function" (func (param i32 i32 i32 i32 i32 i32) (result i32)))
        (import "env" "emscripten_notify_memory_growth" (func (param i32)))
        (import "wasi_unstable" "fd_write" (func (param i32 i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "clock_time_get" (func (param i32 i64 i32) (result i32)))
        (import "wasi_snapshot_preview1" "path_open"
            (func (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "proc_exit" (func (param i32)))"#;
    assert!(start(&module(imports, "")).is_ok());
}

#[test]
fn the_abis_mark_memory_and_an_allocator_are_needed() {
    assert!(reason("(module)").contains("proxy_abi_version_0_2_1"));
    assert!(reason(r#"(module (func (export "proxy_abi_version_0_2_1")))"#).contains("memory"));
    let no_allocator =
        r#"(module (memory (export "memory") 1) (func (export "proxy_abi_version_0_2_1")))"#;
    assert!(reason(no_allocator).contains("malloc"));
}

#[test]
fn a_callback_with_another_signature_is_a_load_failure() {
    let text = module("", r#"(func (export "proxy_on_log") (param i64))"#);
    assert!(reason(&text).contains("proxy_on_log"));
}

#[test]
fn a_guest_that_says_no_is_named_with_what_it_said() {
    let text = module(
        r#"(import "env" "proxy_log" (func $log (param i32 i32 i32) (result i32)))"#,
        r#"(data (i32.const 0) "workers[2]: not like this")
           (func (export "proxy_on_configure") (param i32 i32) (result i32)
             (drop (call $log (i32.const 4) (i32.const 0) (i32.const 25)))
             (i32.const 0))"#,
    );
    assert_eq!(refusal(&text), ["workers[2]: not like this"]);
}

#[test]
fn start_functions_may_log_but_not_touch_streams() {
    let import = r#"(import "env" "proxy_set_tick_period_milliseconds" (func $tick (param i32) (result i32)))"#;
    for name in ["_initialize", "_start"] {
        let start = format!(r#"(func (export "{name}") (drop (call $tick (i32.const 1))))"#);
        let log = refusal(&module(import, &start));
        assert!(log[0].contains("restricted_callback"), "{log:?}");
    }
}

#[test]
fn compiled_code_is_kept_and_a_broken_copy_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("guest.wat");
    let cache = dir.path().join("cache");
    std::fs::write(&path, module("", "")).unwrap();
    let load = || {
        let modules = Arc::new(Modules::with_bounds(Some(cache.clone()), SMALL).unwrap());
        start_with(&modules, &path).unwrap();
        let entries = std::fs::read_dir(&cache).unwrap();
        entries
            .map(|entry| entry.unwrap().path())
            .collect::<Vec<_>>()
    };
    let kept = load();
    assert_eq!(kept.len(), 1);
    std::fs::write(&kept[0], b"broken").unwrap();
    assert_eq!(load(), kept);
    assert!(std::fs::read(&kept[0]).unwrap().len() > 100);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let modules = Arc::new(Modules::new(None).unwrap());
    let error = start_with(&modules, std::path::Path::new("/no/such.wasm"))
        .err()
        .unwrap();
    assert!(
        error.to_string().starts_with("cannot load /no/such.wasm: "),
        "{error}"
    );
}
