//! Names that guests look up in a world without a network.

use host_sim_scenario::{Request, Setup, World};

use crate::deployment::with_guest;

/// Looks up the name `w1`, and in `x-test` what the request says, and logs what it is told.
const ASKING: &str = r#"(module
  (import "env" "proxy_log" (func $log (param i32 i32 i32) (result i32)))
  (import "env" "proxy_get_buffer_bytes" (func $buffer (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_get_header_map_value" (func $header (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "envoy_resolve_dns" (func $resolve (param i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 0) "x-test")
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "proxy_on_memory_allocate") (param i32) (result i32) i32.const 65536)
  (func (export "proxy_on_context_create") (param i32 i32))
  (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
    (drop (call $header (i32.const 0) (i32.const 0) (i32.const 6) (i32.const 64) (i32.const 68)))
    (drop (call $resolve (i32.load (i32.const 64)) (i32.load (i32.const 68)) (i32.const 72)))
    i32.const 0)
  (func (export "envoy_on_resolve_dns") (param i32 i32 i32)
    (drop (call $buffer (i32.const 8) (i32.const 0) (i32.const 100) (i32.const 64) (i32.const 68)))
    (drop (call $log (i32.const 2) (i32.load (i32.const 64)) (i32.load (i32.const 68))))))"#;

fn told(world: &World) -> Vec<String> {
    let lines = world
        .log()
        .iter()
        .filter(|line| line.text.starts_with("wasm log"));
    lines
        .filter_map(|line| line.text.split_once(": "))
        .map(|(_, told)| told.replace('\0', "|"))
        .collect()
}

#[test]
fn workers_have_addresses_by_their_names_and_nobody_else() {
    let (mut world, _folder) = with_guest(ASKING, &Setup::default());
    for name in ["w1", "w2", "example.com", "10.0.0.1"] {
        let answer = world.answer(Request::get("/v1/models").header("x-test", name));
        assert_eq!(answer.status, 200);
    }
    let one = |address: &str| format!("\u{1}|||||||{address}:0|");
    let none = "||||".to_owned();
    assert_eq!(
        told(&world),
        [one("127.0.0.1"), none.clone(), none, one("10.0.0.1")]
    );
}
