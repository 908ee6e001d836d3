//! What start functions and allocators may call. Both lists were found by asking Envoy 1.40.

use host_sim_host::StartError;

use crate::stage::{module, start};
use crate::table::{ENV, WASI, call, import};

/// Everything a module may import, by module.
fn all() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let env = ENV.iter().map(|(name, kinds)| ("env", *name, *kinds));
    env.chain(
        WASI.iter()
            .map(|(name, kinds)| ("wasi_snapshot_preview1", *name, *kinds)),
    )
}

#[test]
fn start_functions_may_log_and_call_most_of_wasi() {
    const ENV_ALLOWED: [&str; 2] = ["proxy_log", "emscripten_notify_memory_growth"];
    const WASI_REFUSED: [&str; 6] = [
        "fd_close",
        "fd_read",
        "fd_seek",
        "path_open",
        "proc_exit",
        "sched_yield",
    ];
    for (family, name, kinds) in all() {
        let allowed = if family == "env" {
            ENV_ALLOWED.contains(&name)
        } else {
            !WASI_REFUSED.contains(&name)
        };
        for export in ["_initialize", "_start"] {
            let call = call(name, kinds, "$f", 64);
            let body = format!(r#"(func (export "{export}") (drop (block (result i32) {call})))"#);
            match start(&module(&import(family, name, kinds, "$f"), &body)) {
                Ok(_) => assert!(allowed, "{name} in {export}"),
                Err(StartError::Refused { log, .. }) => {
                    assert!(
                        !allowed && log[0].contains("restricted_callback"),
                        "{name}: {log:?}"
                    );
                }
                Err(error) => panic!("{name}: {error}"),
            }
        }
    }
}

#[test]
fn an_allocator_may_call_next_to_nothing_and_dies_when_its_guest_has_returned() {
    const ALLOWED: [&str; 4] = ["proxy_log", "fd_write", "clock_time_get", "poll_oneoff"];
    for (family, name, kinds) in all().filter(|(_, name, _)| *name != "proxy_get_buffer_bytes") {
        let text = format!(
            r#"(module {}
            (import "env" "proxy_get_buffer_bytes" (func $get (param i32 i32 i32 i32 i32) (result i32)))
            (memory (export "memory") 1)
            (func (export "proxy_abi_version_0_2_1"))
            (func (export "malloc") (param i32) (result i32)
              (drop (block (result i32) {})) (i32.const 1024))
            (func (export "proxy_on_configure") (param i32 i32) (result i32)
              (drop (call $get (i32.const 7) (i32.const 0) (i32.const 5) (i32.const 32) (i32.const 36)))
              (i32.const 1)))"#,
            import(family, name, kinds, "$f"),
            call(name, kinds, "$f", 64),
        );
        let mut stage = start(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let allowed = ALLOWED.contains(&name);
        assert_eq!(stage.log_has("restricted_callback"), !allowed, "{name}");
        assert_eq!(stage.request(1, &[]).is_some(), allowed, "{name}");
    }
}
