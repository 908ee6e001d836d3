//! What a guest does once it runs.

use crate::stage::{module, start, value};

fn in_request(imports: &str, rest: &str, body: &str) -> String {
    let callback = format!(
        r#"{rest} (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32) {body} (i32.const 0))"#
    );
    module(imports, &callback)
}

#[test]
fn a_header_goes_through_the_guests_memory_and_back() {
    let text = in_request(
        r#"(import "env" "proxy_get_header_map_value" (func $get (param i32 i32 i32 i32 i32) (result i32)))
           (import "env" "proxy_add_header_map_value" (func $add (param i32 i32 i32 i32 i32) (result i32)))"#,
        r#"(data (i32.const 0) "x-inx-out")"#,
        r#"(if (i32.eqz (call $get (i32.const 0) (i32.const 0) (i32.const 4) (i32.const 100) (i32.const 104)))
             (then (drop (call $add (i32.const 0) (i32.const 4) (i32.const 5)
                                (i32.load (i32.const 100)) (i32.load (i32.const 104))))))"#,
    );
    let mut stage = start(&text).unwrap();
    let head = stage.request(1, &[("x-in", "there and back")]).unwrap();
    assert_eq!(value(&head, "x-out").as_deref(), Some("there and back"));
    let head = stage.request(2, &[]).unwrap();
    assert_eq!(value(&head, "x-out"), None);
}

#[test]
fn a_pointer_out_of_memory_is_a_status_and_not_a_trap() {
    let text = in_request(
        r#"(import "env" "proxy_get_header_map_value" (func $get (param i32 i32 i32 i32 i32) (result i32)))"#,
        "",
        r#"(if (i32.ne (i32.const 6)
                 (call $get (i32.const 0) (i32.const -8) (i32.const 100) (i32.const 0) (i32.const 4)))
             (then unreachable))"#,
    );
    assert!(start(&text).unwrap().request(1, &[]).is_some());
}

#[test]
fn numbers_that_name_nothing_are_bad_arguments() {
    let text = in_request(
        r#"(import "env" "proxy_get_header_map_size" (func $size (param i32 i32) (result i32)))
           (import "env" "proxy_get_buffer_status" (func $status (param i32 i32 i32) (result i32)))
           (import "env" "proxy_continue_stream" (func $continue (param i32) (result i32)))"#,
        "",
        r#"(if (i32.ne (i32.const 2) (call $size (i32.const 8) (i32.const 0))) (then unreachable))
           (if (i32.ne (i32.const 2) (call $status (i32.const 9) (i32.const 0) (i32.const 4))) (then unreachable))
           (if (i32.ne (i32.const 2) (call $continue (i32.const 4))) (then unreachable))
           (if (i32.ne (i32.const 12) (call $continue (i32.const 3))) (then unreachable))"#,
    );
    assert!(start(&text).unwrap().request(1, &[]).is_some());
}

#[test]
fn a_trap_fails_the_request_and_those_that_follow() {
    let mut stage = start(&in_request("", "", "unreachable")).unwrap();
    assert!(stage.request(1, &[]).is_none());
    assert_eq!(stage.status(1).as_deref(), Some("503"));
    assert!(stage.log_has("unreachable"));
    assert!(stage.request(2, &[]).is_none());
}

#[test]
fn a_loop_without_an_end_is_stopped() {
    let mut stage = start(&in_request("", "", "(loop $again (br $again))")).unwrap();
    assert!(stage.request(1, &[]).is_none());
    assert!(stage.log_has("fuel"));
}

#[test]
fn memory_stops_growing_at_its_bound() {
    let grow = |pages| {
        format!("(if (i32.eq (i32.const -1) (memory.grow (i32.const {pages}))) (then unreachable))")
    };
    assert!(
        start(&in_request("", "", &grow(15)))
            .unwrap()
            .request(1, &[])
            .is_some()
    );
    assert!(
        start(&in_request("", "", &grow(16)))
            .unwrap()
            .request(1, &[])
            .is_none()
    );
}

#[test]
fn an_allocator_that_calls_the_host_is_stopped() {
    let text = r#"(module
        (import "env" "proxy_get_header_map_value" (func $get (param i32 i32 i32 i32 i32) (result i32)))
        (import "env" "proxy_set_tick_period_milliseconds" (func $tick (param i32) (result i32)))
        (memory (export "memory") 1)
        (data (i32.const 0) ":path")
        (func (export "proxy_abi_version_0_2_1"))
        (func (export "malloc") (param i32) (result i32) (call $tick (i32.const 1)))
        (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
          (call $get (i32.const 0) (i32.const 0) (i32.const 5) (i32.const 100) (i32.const 104))))"#;
    let mut stage = start(text).unwrap();
    assert!(stage.request(1, &[]).is_none());
    assert!(stage.log_has("restricted_callback"));
}

#[test]
fn an_address_is_told_inside_of_the_call_that_asks_for_it() {
    let import =
        r#"(import "env" "envoy_resolve_dns" (func $resolve (param i32 i32 i32) (result i32)))"#;
    let name = r#"(data (i32.const 0) "127.0.0.1") (global $told (mut i32) (i32.const 0))"#;
    let ask = r#"(if (call $resolve (i32.const 0) (i32.const 9) (i32.const 64)) (then unreachable))
           (if (i32.ne (i32.const 2) (i32.load (i32.const 64))) (then unreachable))"#;
    let callback = r#"(func (export "envoy_on_resolve_dns") (param $root i32) (param $token i32) (param $size i32)
             (if (i32.ne (i32.const 2) (i32.load (i32.const 64))) (then unreachable))
             (if (i32.ne (i32.const 20) (local.get $size)) (then unreachable))
             (global.set $told (local.get $token)))"#;
    let is_told = "(if (i32.ne (i32.const 2) (global.get $told)) (then unreachable))";

    let told = in_request(
        import,
        &format!("{name} {callback}"),
        &format!("{ask} {is_told}"),
    );
    assert!(start(&told).unwrap().request(1, &[]).is_some());

    // Whoever has no such callback gets the token all the same.
    let silent = in_request(import, name, ask);
    assert!(start(&silent).unwrap().request(1, &[]).is_some());

    let bad = r#"(if (i32.ne (i32.const 6) (call $resolve (i32.const 0) (i32.const 9) (i32.const -1)))
             (then unreachable))"#;
    let misplaced = in_request(import, name, bad);
    assert!(start(&misplaced).unwrap().request(1, &[]).is_some());
}

#[test]
fn what_is_not_modelled_says_so_once() {
    let text = in_request(
        r#"(import "env" "proxy_call_foreign_function" (func $call (param i32 i32 i32 i32 i32 i32) (result i32)))"#,
        r#"(data (i32.const 0) "expr_create")"#,
        r#"(if (i32.ne (i32.const 12)
                 (call $call (i32.const 0) (i32.const 11) (i32.const 0) (i32.const 4) (i32.const 64) (i32.const 68)))
             (then unreachable))"#,
    );
    let mut stage = start(&text).unwrap();
    assert!(stage.request(1, &[]).is_some() && stage.request(2, &[]).is_some());
    let said = |command: &&host_sim_host::io::Command| matches!(command, host_sim_host::io::Command::Log { text, .. } if text.contains("expr_create"));
    assert_eq!(stage.commands.iter().filter(said).count(), 1);
}

#[test]
fn a_foreign_function_writes_its_result_only_where_it_is_wanted() {
    let text = in_request(
        r#"(import "env" "proxy_call_foreign_function" (func $call (param i32 i32 i32 i32 i32 i32) (result i32)))"#,
        r#"(data (i32.const 0) "compressnone")"#,
        r#"(i32.store (i32.const 64) (i32.const 7))
           (i32.store (i32.const 68) (i32.const 7))
           (if (i32.ne (i32.const 1)
                 (call $call (i32.const 8) (i32.const 4) (i32.const 0) (i32.const 4) (i32.const 64) (i32.const 68)))
             (then unreachable))
           (if (i32.ne (i32.const 7) (i32.load (i32.const 64))) (then unreachable))
           (if (call $call (i32.const 0) (i32.const 8) (i32.const 0) (i32.const 4) (i32.const 0) (i32.const 0))
             (then unreachable))
           (if (i32.ne (i32.const 0x706d6f63) (i32.load (i32.const 0))) (then unreachable))
           (if (call $call (i32.const 0) (i32.const 8) (i32.const 0) (i32.const 4) (i32.const 64) (i32.const 68))
             (then unreachable))
           (if (i32.lt_u (i32.load (i32.const 68)) (i32.const 8)) (then unreachable))"#,
    );
    assert!(start(&text).unwrap().request(1, &[]).is_some());
}

#[test]
fn an_exit_only_logs_and_the_guest_goes_on() {
    let text = in_request(
        r#"(import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))"#,
        "",
        "(call $exit (i32.const 3))",
    );
    let mut stage = start(&text).unwrap();
    assert!(stage.request(1, &[]).is_some());
    assert!(stage.log_has("proc_exit(3)"));
}

#[test]
fn the_environment_is_the_configured_one() {
    let text = in_request(
        r#"(import "wasi_snapshot_preview1" "environ_sizes_get" (func $sizes (param i32 i32) (result i32)))
           (import "wasi_snapshot_preview1" "environ_get" (func $get (param i32 i32) (result i32)))
           (import "env" "proxy_log" (func $log (param i32 i32 i32) (result i32)))"#,
        "",
        r#"(drop (call $sizes (i32.const 0) (i32.const 4)))
           (if (i32.ne (i32.load (i32.const 0)) (i32.const 1)) (then unreachable))
           (drop (call $get (i32.const 8) (i32.const 100)))
           (drop (call $log (i32.const 2) (i32.load (i32.const 8))
                            (i32.sub (i32.load (i32.const 4)) (i32.const 1))))"#,
    );
    let mut stage = start(&text).unwrap();
    assert!(stage.request(1, &[]).is_some());
    assert!(stage.log_has("guest test: NAME=value"));
}

#[test]
fn standard_output_and_standard_error_are_log_lines() {
    let text = in_request(
        r#"(import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))"#,
        r#"(data (i32.const 0) "\10\00\00\00\05\00\00\00\15\00\00\00\02\00\00\00hello!\0a")"#,
        r#"(if (call $write (i32.const 2) (i32.const 0) (i32.const 2) (i32.const 200)) (then unreachable))
           (if (i32.ne (i32.load (i32.const 200)) (i32.const 7)) (then unreachable))
           (if (i32.ne (i32.const 8) (call $write (i32.const 3) (i32.const 0) (i32.const 2) (i32.const 200)))
             (then unreachable))"#,
    );
    let mut stage = start(&text).unwrap();
    assert!(stage.request(1, &[]).is_some());
    assert!(stage.log_has("hello!"));
}
