//! What is remembered of how fast workers were.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use dragoman_latency::{Average, HALF_LIFE, Latencies};
use proptest::prelude::{ProptestConfig, prop_assert, proptest};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const HALF_MS: u64 = HALF_LIFE.as_millis() as u64;

fn near(left: f32, right: f32) -> bool {
    (left - right).abs() <= right.abs() * 1e-4 + 1e-4
}

#[test]
fn what_is_a_half_life_old_counts_half() {
    let mut seen = Average::default();
    seen.observe(100.0, 0);
    seen.observe(400.0, HALF_MS);
    // One half of the first and the whole of the second.
    assert!(near(seen.value_ms(HALF_MS).unwrap(), 300.0));
    // Time alone does not change the mean.
    assert!(near(seen.value_ms(5 * HALF_MS).unwrap(), 300.0));
}

#[test]
fn a_worker_nobody_asked_for_long_is_unknown_again() {
    let mut seen = Average::default();
    assert_eq!(seen.value_ms(0), None);
    seen.observe(100.0, 1000);
    assert!(seen.value_ms(1000 + 10 * HALF_MS).is_some());
    assert_eq!(seen.value_ms(1000 + 11 * HALF_MS), None);
}

#[test]
fn a_clock_that_is_behind_changes_nothing() {
    let mut seen = Average::default();
    seen.observe(100.0, 5000);
    assert_eq!(seen.value_ms(0), Some(100.0));
    seen.observe(300.0, 0);
    let value = seen.value_ms(5000).unwrap();
    assert!((100.0..=300.0).contains(&value), "{value}");
}

#[test]
fn what_is_no_time_is_left_out() {
    let mut seen = Average::default();
    for nonsense in [f32::NAN, f32::INFINITY, -1.0] {
        seen.observe(nonsense, 0);
    }
    assert_eq!(seen.value_ms(0), None);
}

#[test]
fn records_of_several_threads_become_one() {
    let ms = Duration::from_millis;
    let (mut one, mut two) = (Latencies::default(), Latencies::default());
    one.observe(1, ms(100), ms(1000), 0);
    two.observe(1, ms(300), ms(3000), 0);
    two.observe(2, ms(7), ms(70), 0);
    let mut all = Latencies::decode(&one.encode());
    all.merge(&Latencies::decode(&two.encode()));
    let of = |worker| {
        let latency = all.of(worker);
        (
            latency.first_byte.value_ms(0),
            latency.completion.value_ms(0),
        )
    };
    assert_eq!(of(1), (Some(200.0), Some(2000.0)));
    assert_eq!(of(2), (Some(7.0), Some(70.0)));
    assert_eq!(of(3), (None, None));
}

#[test]
fn bytes_that_are_no_record_have_seen_nothing() {
    let mut one = Latencies::default();
    one.observe(1, Duration::from_millis(1), Duration::from_millis(2), 3);
    let bytes = one.encode();
    for cut in 0..bytes.len() {
        assert_eq!(
            Latencies::decode(bytes.get(..cut).unwrap()),
            Latencies::default()
        );
    }
    let mut not_a_number = bytes.clone();
    not_a_number.splice(11..15, f32::NAN.to_le_bytes());
    assert_eq!(Latencies::decode(&not_a_number), Latencies::default());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn two_threads_have_seen_what_one_would_have(
        observations in proptest::collection::vec((0_f32..1e5, 0_u64..60_000, proptest::bool::ANY), 1..50),
    ) {
        let (mut whole, mut left, mut right) = Default::default();
        let mut now_ms = 0;
        for (value, step, goes_left) in observations {
            now_ms += step;
            let half: &mut Average = if goes_left { &mut left } else { &mut right };
            half.observe(value, now_ms);
            let whole: &mut Average = &mut whole;
            whole.observe(value, now_ms);
        }
        let both = left.merged(&right).value_ms(now_ms);
        let whole = whole.value_ms(now_ms);
        prop_assert!(near(both.unwrap_or(-1.0), whole.unwrap_or(-1.0)), "{both:?} {whole:?}");
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
        let _ = Latencies::decode(&bytes);
    }
}
