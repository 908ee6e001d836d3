//! What each strategy promises, by simulation with 3, 10 and 100 workers.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use dragoman_contract::Class;
use dragoman_contract::load::worker_hash;
use dragoman_selection::{Candidate, Draw, Need, Policy, Pool, Strategy, TopK, caller_hash};
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const SIZES: [usize; 3] = [3, 10, 100];
const TOP: TopK = TopK { k: 5, epsilon: 4 };
const ALL: [Strategy; 10] = [
    Strategy::Failover,
    Strategy::Weighted,
    Strategy::WeightedByCaller,
    Strategy::RoundRobin,
    Strategy::Random,
    Strategy::LeastConnections,
    Strategy::LeastLatency,
    Strategy::Sticky,
    Strategy::PowerOfTwo,
    Strategy::LeastRequestTopK(TOP),
];

fn workers(count: usize) -> Vec<Candidate> {
    let hash = |index: usize| worker_hash(&format!("w{index}"));
    (0..count)
        .map(|index| Candidate::unknown(hash(index)))
        .collect()
}

/// The order for the request with this number.
fn order(candidates: &[Candidate], strategy: Strategy, number: u32, most: usize) -> Vec<usize> {
    let draw = Draw {
        random: u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15),
        turn: number,
        caller: caller_hash("tenant", &number.to_string()),
    };
    ordered(candidates, strategy, &draw, most)
}

fn ordered(candidates: &[Candidate], strategy: Strategy, draw: &Draw, most: usize) -> Vec<usize> {
    let need = Need {
        class: Class::Interactive,
        caller: draw.caller,
        tokens: 0,
        tools: false,
    };
    let policy = Policy {
        canary_percent: 0,
        background_percent: 75,
    };
    Pool::new(candidates, &need, &policy, strategy).order(strategy, draw, most)
}

/// How often each worker is tried first in so many requests.
fn firsts(candidates: &[Candidate], strategy: Strategy, requests: u32) -> Vec<u32> {
    let mut times = vec![0; candidates.len()];
    for number in 0..requests {
        times[order(candidates, strategy, number, 1)[0]] += 1;
    }
    times
}

fn assert_shares(times: &[u32], expected: &[f64]) {
    let all = f64::from(times.iter().sum::<u32>());
    for (worker, (times, expected)) in times.iter().zip(expected).enumerate() {
        let share = f64::from(*times) / all;
        assert!(
            (share - expected).abs() <= 0.01,
            "worker {worker}: {share} of the requests in place of {expected}"
        );
    }
}

#[test]
fn those_that_divide_evenly_do_so_within_one_in_a_hundred() {
    for count in SIZES {
        let candidates = workers(count);
        let even = vec![1.0 / count as f64; count];
        for strategy in [
            Strategy::RoundRobin,
            Strategy::Weighted,
            Strategy::WeightedByCaller,
            Strategy::Random,
            Strategy::LeastConnections,
            Strategy::LeastLatency,
            Strategy::Sticky,
            Strategy::PowerOfTwo,
        ] {
            assert_shares(&firsts(&candidates, strategy, 20_000), &even);
        }
    }
}

#[test]
fn failover_asks_the_first_alone() {
    assert_eq!(firsts(&workers(3), Strategy::Failover, 100), [100, 0, 0]);
    assert_eq!(order(&workers(3), Strategy::Failover, 7, 16), [0, 1, 2]);
}

#[test]
fn round_robin_starts_one_further_at_each_turn() {
    let candidates = workers(3);
    let orders: Vec<_> = (0..4)
        .map(|turn| order(&candidates, Strategy::RoundRobin, turn, 3))
        .collect();
    assert_eq!(orders, [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]]);
}

fn weighing(weights: &[u32]) -> Vec<Candidate> {
    let mut candidates = workers(weights.len());
    for (candidate, weight) in candidates.iter_mut().zip(weights) {
        candidate.weight = *weight;
    }
    candidates
}

#[test]
fn after_a_round_each_has_exactly_its_weight() {
    for weights in [&[80, 20][..], &[50, 30, 20], &[1, 0, 7, 1], &[3], &[999, 1]] {
        let round: u32 = weights.iter().sum();
        assert_eq!(
            firsts(&weighing(weights), Strategy::Weighted, round),
            weights,
            "{weights:?}"
        );
    }
}

#[test]
fn weights_are_smooth_within_a_round() {
    // Of any ten requests in a row, the one with a fifth of the weight has one to three.
    let candidates = weighing(&[8_000, 2_000, 7]);
    let firsts: Vec<usize> = (0..5_000)
        .map(|number| order(&candidates, Strategy::Weighted, number, 1)[0])
        .collect();
    for ten in firsts.windows(10) {
        let seconds = ten.iter().filter(|worker| **worker == 1).count();
        assert!((1..=3).contains(&seconds), "{ten:?}");
    }
}

#[test]
fn a_caller_keeps_its_worker_and_the_callers_are_divided_by_weight() {
    let candidates = weighing(&[80, 20]);
    let times = firsts(&candidates, Strategy::WeightedByCaller, 20_000);
    assert_shares(&times, &[0.8, 0.2]);
    let of_number = |number: u32| Draw {
        random: u64::from(number),
        turn: number,
        caller: 42,
    };
    let first = ordered(&candidates, Strategy::WeightedByCaller, &of_number(1), 1);
    for number in 2..50 {
        let draw = of_number(number);
        assert_eq!(
            ordered(&candidates, Strategy::WeightedByCaller, &draw, 1),
            first
        );
    }
}

#[test]
fn the_share_of_a_weighted_worker_that_fails_is_split_by_the_weights_of_the_others() {
    let candidates = weighing(&[50, 30, 20]);
    let mut seconds = vec![0; 3];
    for number in 0..40_000 {
        let order = order(&candidates, Strategy::Weighted, number, 2);
        if order[0] == 0 {
            seconds[order[1]] += 1;
        }
    }
    assert_shares(&seconds, &[0.0, 0.6, 0.4]);
}

#[test]
fn callers_of_a_worker_that_leaves_move_and_no_others() {
    for count in SIZES {
        let all = workers(count);
        let (callers, mut moved) = (20_000, 0);
        for caller in 0..callers {
            let whole = order(&all, Strategy::Sticky, caller, 2);
            let mut fewer = all.clone();
            fewer[count - 1].ready = false;
            let after = order(&fewer, Strategy::Sticky, caller, 1)[0];
            if whole[0] == count - 1 {
                // Each to the one that would have been tried next.
                assert_eq!(after, whole[1]);
                moved += 1;
            } else {
                assert_eq!(after, whole[0]);
            }
        }
        let share = f64::from(moved) / f64::from(callers);
        assert!(share <= 1.0 / count as f64 + 0.01, "{share} of {count}");
    }
}

#[test]
fn sticky_goes_by_the_worker_and_not_by_its_place_in_the_document() {
    let candidates = workers(10);
    let mut reversed = candidates.clone();
    reversed.reverse();
    for caller in 0..200 {
        let here = candidates[order(&candidates, Strategy::Sticky, caller, 1)[0]].worker;
        let there = reversed[order(&reversed, Strategy::Sticky, caller, 1)[0]].worker;
        assert_eq!(here, there);
    }
}

/// Requests begin one after the other and none ends: what each worker then has.
fn filled(strategy: Strategy, count: usize, requests: u32) -> Vec<u32> {
    let mut candidates = workers(count);
    for number in 0..requests {
        let first = order(&candidates, strategy, number, 1)[0];
        candidates[first].in_flight += 1;
    }
    candidates
        .iter()
        .map(|candidate| candidate.in_flight)
        .collect()
}

fn gap(times: &[u32]) -> u32 {
    times.iter().max().unwrap() - times.iter().min().unwrap()
}

#[test]
fn least_connections_is_within_one_of_even() {
    for count in SIZES {
        for requests in [1, 7, 1000] {
            assert!(gap(&filled(Strategy::LeastConnections, count, requests)) <= 1);
        }
    }
}

#[test]
fn two_choices_are_far_better_than_one() {
    for count in [10, 100] {
        let one = gap(&filled(Strategy::Random, count, 5_000));
        let two = gap(&filled(Strategy::PowerOfTwo, count, 5_000));
        assert!(two * 3 < one, "{two} and {one} with {count} workers");
    }
}

#[test]
fn the_faster_worker_is_preferred_until_what_it_has_makes_it_slower() {
    let mut candidates = workers(3);
    for (candidate, latency_ms) in candidates.iter_mut().zip([100.0, 300.0, 1000.0]) {
        candidate.latency_ms = Some(latency_ms);
    }
    assert_eq!(order(&candidates, Strategy::LeastLatency, 1, 3), [0, 1, 2]);
    candidates[0].in_flight = 3;
    assert_eq!(order(&candidates, Strategy::LeastLatency, 1, 3), [1, 0, 2]);
}

#[test]
fn a_worker_nobody_knows_is_neither_flooded_nor_left_aside() {
    let mut candidates = workers(3);
    candidates[0].latency_ms = Some(100.0);
    candidates[1].latency_ms = Some(300.0);
    // The new one counts as 100 for one request, and as 200 while it runs.
    let firsts = firsts(&candidates, Strategy::LeastLatency, 1000);
    assert!(firsts[2] > 300 && firsts[1] == 0, "{firsts:?}");
    candidates[2].in_flight = 1;
    assert_eq!(order(&candidates, Strategy::LeastLatency, 1, 3), [0, 1, 2]);
    for number in 0..300 {
        let first = order(&candidates, Strategy::LeastLatency, number, 1)[0];
        candidates[first].in_flight += 1;
    }
    let shares: Vec<u32> = candidates.iter().map(|worker| worker.in_flight).collect();
    // 6 : 2 : 3 of 300, the reciprocals of their times.
    for (share, expected) in shares.iter().zip([164_u32, 55, 82]) {
        assert!(share.abs_diff(expected) <= 2, "{shares:?}");
    }
}

#[test]
fn the_least_loaded_are_drawn_from_and_no_others() {
    let mut candidates = workers(10);
    for (candidate, in_flight) in candidates.iter_mut().zip(0..) {
        candidate.in_flight = in_flight;
    }
    let top = Strategy::LeastRequestTopK(TopK { k: 3, epsilon: 100 });
    let times = firsts(&candidates, top, 20_000);
    assert_shares(&times[..3], &[1.0 / 3.0; 3]);
    assert_eq!(times[3..], [0; 7]);
    let near = Strategy::LeastRequestTopK(TopK { k: 8, epsilon: 1 });
    let times = firsts(&candidates, near, 20_000);
    assert_shares(&times[..2], &[0.5; 2]);
    assert_eq!(times[2..], [0; 8]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_order_has_each_worker_once_and_is_the_same_for_the_same_draw(
        loads in proptest::collection::vec((0_u32..5, 0_u32..4, proptest::option::of(0_f32..1e6)), 0..40),
        random: u64,
        turn: u32,
        caller: u64,
        most in 0_usize..20,
        strategy in proptest::sample::select(ALL.to_vec()),
    ) {
        let mut candidates = workers(loads.len());
        for (candidate, (in_flight, weight, latency_ms)) in candidates.iter_mut().zip(&loads) {
            candidate.in_flight = *in_flight;
            candidate.weight = *weight;
            candidate.latency_ms = *latency_ms;
        }
        let draw = Draw { random, turn, caller };
        let order = ordered(&candidates, strategy, &draw, most);
        let usable = candidates.iter().filter(|worker| !strategy.weighs() || worker.weight > 0).count();
        prop_assert_eq!(order.len(), most.min(usable));
        let mut places = order.clone();
        places.sort_unstable();
        places.dedup();
        prop_assert_eq!(places.len(), order.len());
        prop_assert!(order.iter().all(|place| *place < candidates.len()));
        prop_assert_eq!(ordered(&candidates, strategy, &draw, most), order);
    }

    #[test]
    fn times_that_are_no_numbers_harm_nobody(
        times in proptest::collection::vec(any::<f32>(), 1..10),
        random: u64,
    ) {
        let mut candidates = workers(times.len());
        for (candidate, time) in candidates.iter_mut().zip(&times) {
            candidate.latency_ms = Some(*time);
        }
        let draw = Draw { random, turn: 0, caller: 0 };
        prop_assert_eq!(ordered(&candidates, Strategy::LeastLatency, &draw, 16).len(), times.len());
    }
}
