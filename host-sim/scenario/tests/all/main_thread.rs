//! The main thread's copies of all guests.

use std::time::Duration;

use host_sim_scenario::{Request, Setup, World};

use crate::deployment::with_guest;

/// Ticks each 100 ms and puts a value into the queue that it registers when it is configured. The metrics `configured`,
/// `ticks` and `told` count over all threads. A request with `x-test` traps.
const TICKING: &str = r#"(module
  (import "env" "proxy_get_header_map_value" (func $header (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_set_tick_period_milliseconds" (func $tick (param i32) (result i32)))
  (import "env" "proxy_register_shared_queue" (func $register (param i32 i32 i32) (result i32)))
  (import "env" "proxy_enqueue_shared_queue" (func $enqueue (param i32 i32 i32) (result i32)))
  (import "env" "proxy_define_metric" (func $define (param i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_increment_metric" (func $increment (param i32 i64) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 0) "x-test") (data (i32.const 8) "jobs")
  (data (i32.const 16) "configured") (data (i32.const 32) "ticks") (data (i32.const 40) "told")
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "proxy_on_memory_allocate") (param i32) (result i32) i32.const 65536)
  (func (export "proxy_on_context_create") (param i32 i32))
  (func (export "proxy_on_configure") (param i32 i32) (result i32)
    (drop (call $define (i32.const 0) (i32.const 16) (i32.const 10) (i32.const 64)))
    (drop (call $define (i32.const 0) (i32.const 32) (i32.const 5) (i32.const 68)))
    (drop (call $define (i32.const 0) (i32.const 40) (i32.const 4) (i32.const 72)))
    (drop (call $increment (i32.load (i32.const 64)) (i64.const 1)))
    (drop (call $register (i32.const 8) (i32.const 4) (i32.const 76)))
    (drop (call $tick (i32.const 100)))
    i32.const 1)
  (func (export "proxy_on_tick") (param i32)
    (drop (call $increment (i32.load (i32.const 68)) (i64.const 1)))
    (drop (call $enqueue (i32.load (i32.const 76)) (i32.const 8) (i32.const 4))))
  (func (export "proxy_on_queue_ready") (param i32 i32)
    (drop (call $increment (i32.load (i32.const 72)) (i64.const 1))))
  (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
    (if (i32.eqz (call $header (i32.const 0) (i32.const 0) (i32.const 6) (i32.const 80) (i32.const 84)))
      (then unreachable))
    i32.const 0))"#;

fn metric(world: &World, name: &str) -> u64 {
    let metrics = world.prometheus();
    let line = metrics
        .lines()
        .find(|line| !line.starts_with('#') && line.contains(name));
    let value = line.and_then(|line| line.rsplit(' ').next());
    value.map_or(0, |value| value.parse().expect("a number"))
}

#[test]
fn every_guest_ticks_on_the_main_thread_too() {
    let setup = Setup {
        threads: 2,
        ..Setup::default()
    };
    let (mut world, _folder) = with_guest(TICKING, &setup);

    world.run_until(Duration::from_millis(1050));

    // A trial, the main thread, two worker threads; the trial never ticks.
    assert_eq!(metric(&world, "configured"), 4);
    assert_eq!(metric(&world, "ticks"), 3 * 10);
    // Whoever registered last hears of every value, also of those of other threads.
    assert_eq!(metric(&world, "told"), 3 * 10);
}

#[test]
fn the_main_threads_copy_ticks_on_when_that_of_the_worker_thread_is_dead() {
    let (mut world, _folder) = with_guest(TICKING, &Setup::default());
    world.run_until(Duration::from_millis(150));
    let trapped = world.answer(Request::get("/v1/models").header("x-test", "trap"));
    assert_eq!(trapped.status, 503);
    let before = metric(&world, "ticks");

    world.run_until(world.now() + Duration::from_secs(1));

    assert_eq!((before, metric(&world, "ticks")), (2, 2 + 10));
}

#[test]
fn requests_never_come_to_the_main_thread() {
    let setup = Setup {
        threads: 2,
        ..Setup::default()
    };
    let (mut world, _folder) = with_guest(TICKING, &setup);
    for thread in 0..6 {
        world.request(Request::get("/v1/models").on_thread(thread));
    }
    world.run();
    let trace = world.trace();
    let of_main = trace.lines().filter(|line| line.contains(" main: "));
    let requests: Vec<&str> = of_main.filter(|line| line.contains("request")).collect();
    assert_eq!(requests, [""; 0]);
    assert!(trace.contains(" thread 0: ") && trace.contains(" thread 1: "));
}
