//! What each mode promises about the order of targets.

#![allow(
    clippy::indexing_slicing,
    reason = "a helper of tests may fail the test"
)]

use dragoman_contract::Mode;
use dragoman_strategy::{Ticket, order};
use proptest::prelude::*;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const MODES: [Mode; 3] = [Mode::Failover, Mode::Weighted, Mode::RoundRobin];

fn failover(weights: &[u32], most: usize) -> Vec<usize> {
    let ticket = Ticket {
        random: 77,
        turn: 77,
    };
    order(Mode::Failover, weights, ticket, most)
}

fn weighted(weights: &[u32], random: u64, most: usize) -> Vec<usize> {
    order(Mode::Weighted, weights, Ticket { random, turn: 77 }, most)
}

fn round_robin(count: usize, turn: u32, most: usize) -> Vec<usize> {
    let weights = vec![0; count];
    order(
        Mode::RoundRobin,
        &weights,
        Ticket { random: 77, turn },
        most,
    )
}

/// How often each target stands at a place of the order, in shares of all the draws that count.
fn shares(weights: &[u32], place: usize, counts: impl Fn(&[usize]) -> bool) -> Vec<f64> {
    let mut times = vec![0.0; weights.len()];
    for random in 0..100_000 {
        let order = weighted(weights, random, 16);
        if counts(&order) {
            times[order[place]] += 1.0;
        }
    }
    let all: f64 = times.iter().sum();
    times.iter().map(|times| times / all).collect()
}

fn assert_near(shares: &[f64], expected: &[f64]) {
    let near = |(share, expected): (&f64, &f64)| (share - expected).abs() < 0.01;
    assert!(
        shares.iter().zip(expected).all(near),
        "{shares:?} is not {expected:?}"
    );
}

#[test]
fn failover_keeps_the_order_of_the_document() {
    assert_eq!(failover(&[1, 0, 9], 16), [0, 1, 2]);
    assert_eq!(failover(&[1, 0, 9], 2), [0, 1]);
}

#[test]
fn weights_of_80_and_20_split_four_to_one() {
    assert_near(&shares(&[80, 20], 0, |_| true), &[0.8, 0.2]);
    assert_near(&shares(&[20, 80], 0, |_| true), &[0.2, 0.8]);
}

#[test]
fn equal_weights_split_evenly() {
    assert_near(&shares(&[7, 7, 7, 7], 0, |_| true), &[0.25; 4]);
}

#[test]
fn the_share_of_a_target_that_fails_is_split_by_the_weights_of_the_others() {
    let first_is_0 = |order: &[usize]| order[0] == 0;
    assert_near(&shares(&[50, 30, 20], 1, first_is_0), &[0.0, 0.6, 0.4]);
    let first_is_2 = |order: &[usize]| order[0] == 2;
    assert_near(&shares(&[50, 30, 20], 1, first_is_2), &[0.625, 0.375, 0.0]);
}

#[test]
fn a_target_of_weight_0_is_not_used() {
    for random in 0..1000 {
        let mut order = weighted(&[0, 5, 0, 1], random, 16);
        order.sort_unstable();
        assert_eq!(order, [1, 3]);
    }
    assert_eq!(weighted(&[0, 0], 1, 16), [0_usize; 0]);
}

#[test]
fn the_same_random_number_gives_the_same_order() {
    let weights = [3, 1, 4, 1, 5, 9, 2, 6];
    assert_eq!(weighted(&weights, 42, 16), weighted(&weights, 42, 16));
    assert_eq!(weighted(&weights, 42, 3), weighted(&weights, 42, 16)[..3]);
}

#[test]
fn the_largest_weights_still_split_in_proportion() {
    assert_near(&shares(&[u32::MAX; 5], 0, |_| true), &[0.2; 5]);
    assert_near(&shares(&[u32::MAX, 1], 0, |_| true), &[1.0, 0.0]);
    assert_eq!(weighted(&[u32::MAX; 64], u64::MAX, 64).len(), 64);
}

#[test]
fn round_robin_starts_one_further_at_each_turn() {
    assert_eq!(round_robin(3, 0, 16), [0, 1, 2]);
    assert_eq!(round_robin(3, 1, 16), [1, 2, 0]);
    assert_eq!(round_robin(3, 2, 16), [2, 0, 1]);
    assert_eq!(round_robin(3, 3, 16), [0, 1, 2]);
    assert_eq!(round_robin(3, 5, 2), [2, 0]);
    assert_eq!(round_robin(1, u32::MAX, 16), [0]);
}

#[test]
fn round_robin_is_fair_to_every_target_and_past_the_wrap_off_by_one_at_most() {
    for count in 1..=64_usize {
        let rounds = 5;
        let turns = u32::try_from(count * rounds).unwrap();
        for (start, slack) in [(0, 0), (12_345, 0), (u32::MAX - turns / 2, 1)] {
            let mut times = vec![0_usize; count];
            for turn in 0..turns {
                times[round_robin(count, start.wrapping_add(turn), 1)[0]] += 1;
            }
            let fair = |times: &usize| times.abs_diff(rounds) <= slack;
            assert!(
                times.iter().all(fair),
                "{count} targets from {start}: {times:?}"
            );
        }
    }
}

#[test]
fn without_targets_or_tries_there_is_nothing() {
    for mode in MODES {
        let ticket = Ticket { random: 1, turn: 1 };
        assert_eq!(order(mode, &[], ticket, 16), [0_usize; 0]);
        assert_eq!(order(mode, &[1, 2], ticket, 0), [0_usize; 0]);
    }
}

proptest! {
    #[test]
    fn every_order_has_each_usable_target_once_up_to_the_limit(
        weights in proptest::collection::vec(prop_oneof![Just(0), any::<u32>()], 0..70),
        random: u64,
        turn: u32,
        most in 0..80usize,
    ) {
        for mode in MODES {
            let found = order(mode, &weights, Ticket { random, turn }, most);
            let usable = |index: &usize| mode != Mode::Weighted || weights[*index] > 0;
            let expected: Vec<usize> = (0..weights.len()).filter(usable).collect();
            prop_assert_eq!(found.len(), expected.len().min(most));
            let mut sorted = found.clone();
            sorted.sort_unstable();
            sorted.dedup();
            prop_assert_eq!(sorted.len(), found.len(), "repeats: {:?}", found);
            prop_assert!(sorted.iter().all(|index| expected.contains(index)), "{:?}", found);
        }
    }
}
