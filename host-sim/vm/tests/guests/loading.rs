//! Which modules load.

use std::sync::Arc;

use host_sim_host::StartError;
use host_sim_vm::Modules;

use crate::stage::{SMALL, module, start, start_with};

pub fn reason(text: &str) -> String {
    match start(text) {
        Err(StartError::Load(error)) => error.reason,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it loaded"),
    }
}

pub fn refusal(text: &str) -> Vec<String> {
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
fn a_guest_that_traps_where_nothing_is_asked_starts_dead() {
    let trap = r#"(func (export "proxy_on_context_create") (param i32 i32) unreachable)"#;
    let mut stage = start(&module("", trap)).unwrap();
    assert!(stage.request(1, &[]).is_none());
    assert_eq!(stage.status(1).as_deref(), Some("503"));
}

#[test]
fn a_guest_that_traps_where_it_is_asked_does_not_start() {
    for callback in ["proxy_on_vm_start", "proxy_on_configure"] {
        let trap =
            format!(r#"(func (export "{callback}") (param i32 i32) (result i32) unreachable)"#);
        assert!(refusal(&module("", &trap))[0].contains("unreachable"));
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
