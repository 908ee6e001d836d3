//! Guests of several threads inside their calls at the same moment.

use std::collections::BTreeSet;
use std::time::Duration;

use host_sim_scenario::{Request, Setup};

use crate::deployment::{chat, gateway, streamed_chat, with_guest, world};

/// Adds one to a number in shared data when `x-test` begins with `p` (plainly: read, add, write) or `c` (compare-and-swap,
/// again until it succeeds). With `r` it shows the number in the metric `total`; `mismatches` counts lost swaps.
const COUNTING: &str = r#"(module
  (import "env" "proxy_get_header_map_value" (func $header (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_get_shared_data" (func $get (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_set_shared_data" (func $set (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_define_metric" (func $define (param i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_record_metric" (func $record (param i32 i64) (result i32)))
  (import "env" "proxy_increment_metric" (func $increment (param i32 i64) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 0) "x-test") (data (i32.const 8) "number")
  (data (i32.const 96) "total") (data (i32.const 112) "mismatches")
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "proxy_on_memory_allocate") (param i32) (result i32) i32.const 65536)
  (func (export "proxy_on_context_create") (param i32 i32))
  (func (export "proxy_on_vm_start") (param i32 i32) (result i32)
    (drop (call $define (i32.const 1) (i32.const 96) (i32.const 5) (i32.const 144)))
    (drop (call $define (i32.const 0) (i32.const 112) (i32.const 10) (i32.const 148)))
    i32.const 1)
  (func (export "proxy_on_configure") (param i32 i32) (result i32) i32.const 1)
  (func $read (result i32)
    (i32.store (i32.const 40) (i32.const 0))
    (if (result i32)
      (call $get (i32.const 8) (i32.const 6) (i32.const 32) (i32.const 36) (i32.const 40))
      (then (i32.const 0))
      (else (i32.load (i32.load (i32.const 32))))))
  (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
    (local $first i32)
    (if (call $header (i32.const 0) (i32.const 0) (i32.const 6) (i32.const 16) (i32.const 20))
      (then (return (i32.const 0))))
    (local.set $first (i32.load8_u (i32.load (i32.const 16))))
    (if (i32.eq (local.get $first) (i32.const 114)) (then
      (drop (call $record (i32.load (i32.const 144)) (i64.extend_i32_u (call $read))))
      (return (i32.const 0))))
    (loop $again
      (i32.store (i32.const 64) (i32.add (call $read) (i32.const 1)))
      (if (i32.eq (local.get $first) (i32.const 112)) (then (i32.store (i32.const 40) (i32.const 0))))
      (if (call $set (i32.const 8) (i32.const 6) (i32.const 64) (i32.const 4) (i32.load (i32.const 40))) (then
        (drop (call $increment (i32.load (i32.const 148)) (i64.const 1)))
        (br $again))))
    (i32.const 0)))"#;

/// Of `times` requests on two threads that add one: what the number is in the end, and how many swaps were lost.
fn counted(how: &str, seed: u64, overlaps: bool) -> (u64, u64) {
    const TIMES: usize = 20;
    let setup = Setup {
        threads: 2,
        seed,
        overlaps,
        ..Setup::default()
    };
    let (mut world, _folder) = with_guest(COUNTING, &setup);
    let models = || Request::get("/v1/models");
    // The number is there before any thread asks for it: creating it twice is a race of its own.
    world.answer(models().header("x-test", how));
    for place in 1..TIMES {
        world.request(models().header("x-test", how).on_thread(place));
    }
    world.run();
    world.answer(models().header("x-test", "read"));
    let metrics = world.prometheus();
    let metric = |name: &str| {
        let line = metrics
            .lines()
            .find(|line| !line.starts_with('#') && line.contains(name));
        let value = line.and_then(|line| line.rsplit(' ').next());
        value.map_or(0, |value| value.parse().expect("a number"))
    };
    (metric("total"), metric("mismatches"))
}

#[test]
fn updates_without_compare_and_swap_get_lost_for_some_seed() {
    let totals: BTreeSet<u64> = (0..20).map(|seed| counted("plain", seed, true).0).collect();
    assert!(totals.iter().any(|total| *total < 20), "{totals:?}");
}

#[test]
fn compare_and_swap_meets_conflicts_and_loses_nothing() {
    let results: Vec<(u64, u64)> = (0..20).map(|seed| counted("compare", seed, true)).collect();
    assert!(results.iter().all(|(total, _)| *total == 20), "{results:?}");
    assert!(
        results.iter().any(|(_, mismatches)| *mismatches > 0),
        "{results:?}"
    );
}

#[test]
fn without_overlaps_one_event_ends_before_the_next_begins() {
    for seed in 0..5 {
        assert_eq!(counted("plain", seed, false), (20, 0), "seed {seed}");
    }
}

#[test]
fn a_hundred_runs_of_one_seed_have_one_trace() {
    let run = || {
        let setup = Setup {
            threads: 4,
            seed: 11,
            ..Setup::default()
        };
        let mut world = world(&gateway("round-robin", 3), &setup);
        for place in 0..16 {
            let request = if place % 2 == 0 {
                chat()
            } else {
                streamed_chat()
            };
            world.request(request.at(Duration::from_millis(place / 8)));
        }
        world.run();
        world.trace_hash()
    };
    let hashes: BTreeSet<u64> = (0..100).map(|_| run()).collect();
    assert_eq!(hashes.len(), 1, "{hashes:?}");
}
