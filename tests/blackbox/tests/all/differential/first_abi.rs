//! Modules of the first ABI, 0.1.0: other names for going on, header callbacks that are not told of an end, and an empty
//! value for a header that is not there.

use blackbox::differential::Case;
use blackbox::plugin::{Plugin, scripted};
use serde_json::json;

/// Calls a cluster in the request's head and goes on when it has answered. Says what it gets, a letter and a digit each:
/// `n` the number of header lines, `s` a status, `l` a length. The configuration that it reads while it is configured is
/// told with the request.
const GUEST: &str = r#"(module
  (import "env" "proxy_log" (func $log (param i32 i32 i32) (result i32)))
  (import "env" "proxy_get_header_map_value" (func $get (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_add_header_map_value" (func $add (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_get_configuration" (func $configuration (param i32 i32) (result i32)))
  (import "env" "proxy_clear_route_cache" (func $clear (result i32)))
  (import "env" "proxy_continue_request" (func $continue_request (result i32)))
  (import "env" "proxy_continue_response" (func $continue_response (result i32)))
  (import "env" "proxy_set_effective_context" (func $effective (param i32) (result i32)))
  (import "env" "proxy_http_call" (func $call (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "x-none")
  (data (i32.const 32) "x-one")
  (data (i32.const 48) "called")
  (data (i32.const 96) "context_create(2, 1)")
  (data (i32.const 128) "\03\00\00\00\07\00\00\00\03\00\00\00\05\00\00\00\07\00\00\00\0a\00\00\00\01\00\00\00:method\00GET\00:path\00/readyz\00:authority\00c\00")
  (global $free (mut i32) (i32.const 4096))
  (global $stream (mut i32) (i32.const 0))
  (global $vm (mut i64) (i64.const 0))
  (global $plugin (mut i64) (i64.const 0))
  (func (export "proxy_abi_version_0_1_0"))
  (func (export "malloc") (param $size i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $free))
    (global.set $free (i32.add (global.get $free) (local.get $size)))
    (local.get $at))
  (func $say (param $letter i32) (param $number i32)
    (i32.store8 (i32.const 0) (local.get $letter))
    (i32.store8 (i32.const 1) (i32.add (i32.const 48) (local.get $number)))
    (drop (call $log (i32.const 2) (i32.const 0) (i32.const 2))))
  (func $say_text (param $place i64)
    (i64.store (i32.const 64) (local.get $place))
    (drop (call $log (i32.const 2) (i32.load (i32.const 64)) (i32.load (i32.const 68)))))
  (func $header (param $map i32) (param $name i32) (param $length i32)
    (call $say (i32.const 115) (call $get (local.get $map) (local.get $name) (local.get $length) (i32.const 64) (i32.const 68)))
    (call $say (i32.const 108) (i32.load (i32.const 68))))
  (func (export "proxy_on_vm_start") (param i32 i32) (result i32)
    (drop (call $configuration (i32.const 64) (i32.const 68)))
    (global.set $vm (i64.load (i32.const 64)))
    (i32.const 1))
  (func (export "proxy_on_configure") (param i32 i32) (result i32)
    (drop (call $configuration (i32.const 64) (i32.const 68)))
    (global.set $plugin (i64.load (i32.const 64)))
    (i32.const 1))
  (func (export "proxy_on_context_create") (param $context i32) (param $root i32)
    (if (local.get $root) (then
      (global.set $stream (local.get $context))
      (drop (call $log (i32.const 2) (i32.const 96) (i32.const 20))))))
  (func (export "proxy_on_request_headers") (param $context i32) (param $count i32) (result i32)
    (call $say_text (global.get $vm))
    (call $say_text (global.get $plugin))
    (call $say (i32.const 110) (local.get $count))
    (call $header (i32.const 0) (i32.const 16) (i32.const 6))
    (call $header (i32.const 0) (i32.const 32) (i32.const 5))
    (call $header (i32.const 2) (i32.const 32) (i32.const 5))
    (call $say (i32.const 115) (call $configuration (i32.const 64) (i32.const 68)))
    (call $say_text (i64.load (i32.const 64)))
    (call $say (i32.const 115) (call $clear))
    (call $say (i32.const 115) (call $call (i32.const 48) (i32.const 6) (i32.const 128) (i32.const 67)
      (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1000) (i32.const 64)))
    (i32.const 1))
  (func (export "proxy_on_http_call_response") (param i32 i32 i32 i32 i32)
    (call $say (i32.const 115) (call $effective (global.get $stream)))
    (call $say (i32.const 115) (call $continue_request)))
  (func (export "proxy_on_response_headers") (param $context i32) (param $count i32) (result i32)
    (call $say (i32.const 110) (local.get $count))
    (drop (call $add (i32.const 2) (i32.const 32) (i32.const 5) (i32.const 48) (i32.const 6)))
    (i32.const 0))
  (func (export "proxy_on_log") (param i32)
    (call $header (i32.const 0) (i32.const 16) (i32.const 6))
    (call $header (i32.const 1) (i32.const 32) (i32.const 5))))"#;

fn plugin(folder: &tempfile::TempDir, text: &str) -> Plugin {
    let path = folder.path().join("module.wasm");
    std::fs::write(&path, wat::parse_str(text).expect("text of a module")).expect("a folder");
    scripted("a", "of the plugin")
        .in_vm("of the VM")
        .with_code(path.to_str().expect("a path of text"))
}

/// Both engines end at their start and say this.
fn is_refused(version: &str, rest: &str, sentence: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        r#"(module {rest} (memory (export "memory") 1) (func (export "{version}"))
            (func (export "malloc") (param i32) (result i32) (i32.const 1024)))"#
    );
    let said = Case::new().filter(plugin(&folder, &text)).refused();
    assert!(!said.is_empty());
    for said in said {
        assert!(said.contains(sentence), "{said}");
    }
}

#[test]
fn a_module_of_the_first_abi_is_told_less_and_goes_on_by_other_names() {
    let folder = tempfile::tempdir().expect("a folder");

    let seen = Case::new()
        .filter(plugin(&folder, GUEST))
        .cluster("called", &["c1"])
        .shape(|raw| raw.hcm("use_remote_address", json!(false)))
        .run(|client| drop(client.request("GET", "/readyz", &["x-one: 1"], b"")));

    assert_eq!(seen.statuses(), [200]);
    assert!(seen.client().contains(&"  x-one: called".to_owned()));
    let said: Vec<&str> = seen
        .guests()
        .iter()
        .filter_map(|line| line.split_once(": ").map(|(_, text)| text))
        .collect();
    let expected = [
        "context_create(2, 1)",
        "of the VM",
        "of the plugin",
        "n7",
        // Of a header that is not there, of one that is, of a map that is not.
        "s0",
        "l0",
        "s0",
        "l1",
        "s2",
        "l1",
        "s0",
        "of the VM",
        "s0",
        "s0",
        // The answer to the callout.
        "s0",
        "s0",
        // The response has one line more than with trailers that nobody sent.
        "n3",
        "s0",
        "l0",
        "s0",
        "l0",
    ];
    assert_eq!(said, expected);
}

#[test]
fn each_abi_has_its_own_names_for_going_on() {
    for (version, name, kinds) in [
        ("proxy_abi_version_0_1_0", "proxy_continue_stream", "i32"),
        ("proxy_abi_version_0_1_0", "proxy_close_stream", "i32"),
        ("proxy_abi_version_0_1_0", "proxy_get_log_level", "i32"),
        ("proxy_abi_version_0_2_0", "proxy_continue_request", ""),
        ("proxy_abi_version_0_2_1", "proxy_continue_response", ""),
        (
            "proxy_abi_version_0_2_1",
            "proxy_get_configuration",
            "i32 i32",
        ),
    ] {
        let import = format!(r#"(import "env" "{name}" (func (param {kinds}) (result i32)))"#);
        let sentence = format!("Failed to load Wasm module due to a missing import: env.{name}");
        is_refused(version, &import, &sentence);
    }
}

#[test]
fn header_callbacks_take_two_numbers_in_the_first_abi_and_three_later() {
    let callback = |kinds: &str| {
        format!(
            r#"(func (export "proxy_on_request_headers") (param {kinds}) (result i32) (i32.const 0))"#
        )
    };
    is_refused(
        "proxy_abi_version_0_1_0",
        &callback("i32 i32 i32"),
        "Bad function signature for: proxy_on_request_headers, want: i32 i32 -> i32, but the module exports: i32 i32 i32 -> i32",
    );
    is_refused(
        "proxy_abi_version_0_2_0",
        &callback("i32 i32"),
        "Bad function signature for: proxy_on_request_headers, want: i32 i32 i32 -> i32, but the module exports: i32 i32 -> i32",
    );
    is_refused(
        "proxy_abi_version_0_2_1",
        r#"(func (export "proxy_validate_configuration") (param i32))"#,
        "Bad function signature for: proxy_validate_configuration, want: i32 i32 -> i32",
    );
}
