use std::time::Duration;

use host_sim_scenario::{End, Request, RequestId, Setup, World};
use tempfile::TempDir;

use crate::deployment::{chat, with_guest};

/// As in the shipped configuration.
const IDLE: Duration = Duration::from_secs(60);

/// Traps or pauses for ever when the header `x-test` begins with `t` or `p`.
const GUEST: &str = r#"(module
  (import "env" "proxy_get_header_map_value"
    (func $get (param i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 0) "x-test")
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "proxy_on_memory_allocate") (param i32) (result i32) i32.const 65536)
  (func (export "proxy_on_context_create") (param i32 i32))
  (func (export "proxy_on_vm_start") (param i32 i32) (result i32) i32.const 1)
  (func (export "proxy_on_configure") (param i32 i32) (result i32) i32.const 1)
  (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
    (local $first i32)
    (if (call $get (i32.const 0) (i32.const 0) (i32.const 6) (i32.const 16) (i32.const 20))
      (then (return (i32.const 0))))
    (local.set $first (i32.load8_u (i32.load (i32.const 16))))
    (if (i32.eq (local.get $first) (i32.const 116)) (then unreachable))
    (i32.eq (local.get $first) (i32.const 112))))"#;

/// Two threads with the guest before all other filters.
fn world() -> (World, TempDir) {
    let setup = Setup {
        threads: 2,
        ..Setup::default()
    };
    with_guest(GUEST, &setup)
}

fn at(milliseconds: u64, request: Request) -> Request {
    request.at(Duration::from_millis(milliseconds))
}

fn statuses(world: &World, ids: &[RequestId]) -> Vec<u16> {
    ids.iter().map(|id| world.response(*id).status).collect()
}

#[test]
fn a_trapped_vm_is_replaced_and_not_more_than_once_an_interval() {
    let (mut world, _folder) = world();
    let trap = || chat().header("x-test", "trap");
    let ids = [
        world.request(at(1000, trap()).on_thread(0)),
        world.request(at(1001, chat()).on_thread(0)),
        world.request(at(1010, trap()).on_thread(0)),
        world.request(at(1050, chat()).on_thread(0)),
        world.request(at(1050, chat()).on_thread(1)),
        world.request(at(1102, chat()).on_thread(0)),
    ];
    world.run();
    assert_eq!(
        statuses(&world, &ids),
        [503, 200, 503, 503, 200, 200],
        "the other thread has its own"
    );
}

#[test]
fn a_stream_that_is_paused_in_a_trapped_vm_ends_with_the_idle_time() {
    let (mut world, _folder) = world();
    let paused = world.request(
        Request::get("/v1/models")
            .header("x-test", "pause")
            .on_thread(0),
    );
    world.request(at(1000, chat().header("x-test", "trap")).on_thread(0));
    world.run();
    let response = world.response(paused);
    assert_eq!((response.status, response.end), (503, End::Complete(IDLE)));
}
