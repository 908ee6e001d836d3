//! What a bucket promises.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may fail the test"
)]

use dragoman_limits::{Bucket, Decision, InvalidLimit, Limit, MAX_REFILL_MS, MAX_TOKENS, is_full};
use proptest::prelude::*;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

fn limit(tokens: u64, period_ms: u64, burst: u64) -> Limit {
    Limit::new(tokens, period_ms, burst).unwrap()
}

fn admitted(decision: Decision) -> Bucket {
    match decision {
        Decision::Admitted { bucket, .. } => bucket,
        other => panic!("{other:?}"),
    }
}

/// A bucket that lacks all its tokens at `now_ns`.
fn empty(limit: &Limit, now_ns: u64) -> Bucket {
    admitted(Bucket::default().take(limit, now_ns, limit.burst()))
}

/// Tries to take one token at each of these moments; how often that went well.
fn count(limit: &Limit, mut bucket: Bucket, moments_ns: impl Iterator<Item = u64>) -> u64 {
    let mut times = 0;
    for now_ns in moments_ns {
        if let Decision::Admitted { bucket: next, .. } = bucket.take(limit, now_ns, 1) {
            (bucket, times) = (next, times + 1);
        }
    }
    times
}

#[test]
fn ten_a_second_with_a_burst_of_twenty() {
    let limit = limit(10, 1_000, 20);
    let mut bucket = Bucket::default();
    for taken in 1..=20 {
        let decision = bucket.take(&limit, 5 * S, 1);
        bucket = admitted(decision);
        let expected = Decision::Admitted {
            bucket,
            remaining: 20 - taken,
            reset_ms: taken * 100,
        };
        assert_eq!(decision, expected);
    }
    let refused = |retry_after_ms, reset_ms| Decision::Refused {
        retry_after_ms,
        remaining: 0,
        reset_ms,
    };
    assert_eq!(bucket.take(&limit, 5 * S, 1), refused(100, 2_000));
    assert_eq!(bucket.take(&limit, 5 * S, 3), refused(300, 2_000));
    assert_eq!(bucket.take(&limit, 5 * S + 1, 1), refused(100, 2_000));
    assert_eq!(
        bucket.take(&limit, 5 * S + 100 * MS - 1, 1),
        refused(1, 1_901)
    );
    admitted(bucket.take(&limit, 5 * S + 100 * MS, 1));
    assert_eq!(
        count(&limit, bucket, (500..1_500).map(|at| at * 10 * MS)),
        99
    );
}

#[test]
fn no_fraction_is_lost_at_a_refill() {
    let seconds = |n: u64| (1..=n).map(|at| at * S);
    let slow = limit(1, 10_000, 1);
    assert_eq!(count(&slow, empty(&slow, 0), seconds(100)), 10);
    let odd = limit(3, 7_000, 2);
    assert_eq!(count(&odd, empty(&odd, 0), seconds(700)), 300);
    // A bucket of one token is full before the next whole second: one each three seconds.
    let narrow = limit(3, 7_000, 1);
    assert_eq!(count(&narrow, empty(&narrow, 0), seconds(700)), 233);
    let half = limit(1, 2_000, 1);
    assert_eq!(count(&half, empty(&half, 0), seconds(60)), 30);
    let fast = limit(1_000_000, 60_000, 20);
    let tries = (1..=6_000).flat_map(|ms| std::iter::repeat_n(ms * MS, 20));
    assert_eq!(count(&fast, empty(&fast, 0), tries), 100_000);
}

#[test]
fn a_clock_that_stands_still_or_goes_back_gives_no_tokens() {
    let limit = limit(10, 1_000, 5);
    let bucket = empty(&limit, 100 * S);
    assert_eq!(
        count(&limit, bucket, std::iter::repeat_n(100 * S, 1_000)),
        0
    );
    assert_eq!(count(&limit, bucket, (0..100).map(|at| at * S)), 0);
    let back = bucket.take(&limit, 99 * S, 1);
    let expected = Decision::Refused {
        retry_after_ms: 1_100,
        remaining: 0,
        reset_ms: 1_500,
    };
    assert_eq!(back, expected);
    let jumping = (0..1_000).map(|at| if at % 2 == 0 { 100 * S } else { 50 * S });
    assert_eq!(count(&limit, bucket, jumping), 0);
}

#[test]
fn what_exceeds_the_burst_is_never_admitted() {
    let limit = limit(10, 1_000, 20);
    let full = Bucket::default();
    assert_eq!(full.take(&limit, S, 21), Decision::NeverAdmitted);
    assert_eq!(full.take(&limit, S, u64::MAX), Decision::NeverAdmitted);
    admitted(full.take(&limit, S, 20));
}

#[test]
fn looking_costs_nothing() {
    let limit = limit(10, 1_000, 20);
    let bucket = admitted(Bucket::default().take(&limit, S, 7));
    let Decision::Admitted { remaining, .. } = bucket.take(&limit, S, 0) else {
        panic!("a cost of 0 fits always");
    };
    assert_eq!(remaining, 13);
    assert_eq!(admitted(bucket.take(&limit, S, 0)), bucket);
}

#[test]
fn a_full_bucket_is_recognised_without_its_limit() {
    let limit = limit(3, 7_000, 3);
    assert!(Bucket::default().is_full(0));
    let bucket = admitted(Bucket::default().take(&limit, S, 1));
    // 7/3 s, which is no whole number of nanoseconds.
    let full_ns = S + 7 * S / 3;
    assert!(
        !bucket.is_full(full_ns),
        "a third of a nanosecond is missing"
    );
    assert!(bucket.is_full(full_ns + 1));
    assert!(!is_full(&bucket.encode(), full_ns));
    assert!(is_full(&bucket.encode(), full_ns + 1));
    assert!(!is_full(b"else", u64::MAX));
    assert_eq!(bucket.full_at_ms(), 3_334);
    assert!(bucket.is_full(3_334 * MS));
    let whole = admitted(Bucket::default().take(&limit, S, 3));
    assert!(!whole.is_full(8 * S - 1));
    assert!(whole.is_full(8 * S));
    assert_eq!(whole.full_at_ms(), 8_000);
}

#[test]
fn a_fraction_of_a_nanosecond_too_early_is_too_early() {
    let limit = limit(3, 7_000, 1);
    let bucket = empty(&limit, S);
    let third_ns = S + 7 * S / 3;
    let Decision::Refused { retry_after_ms, .. } = bucket.take(&limit, third_ns, 1) else {
        panic!("a third of a nanosecond is missing");
    };
    assert_eq!(retry_after_ms, 1);
    admitted(bucket.take(&limit, third_ns + 1, 1));
}

#[test]
fn a_record_that_expires_when_its_bucket_is_full_does_not_expire_before() {
    let limit = limit(3, 1, 1);
    // Full a third of a nanosecond after the first millisecond.
    let bucket = empty(&limit, MS - MS / 3);
    assert!(!bucket.is_full(MS));
    assert_eq!(bucket.full_at_ms(), 2);
}

#[test]
fn what_is_given_back_may_be_taken_again_but_never_above_the_burst() {
    let limit = limit(10, 1_000, 20);
    let bucket = admitted(Bucket::default().take(&limit, S, 15));
    let settled = bucket.give_back(&limit, S, 5);
    assert_eq!(count(&limit, settled, std::iter::repeat_n(S, 50)), 10);
    for amount in [15, 16, 1_000, u64::MAX] {
        let full = bucket.give_back(&limit, S, amount);
        assert!(full.is_full(S));
        assert_eq!(count(&limit, full, std::iter::repeat_n(S, 50)), 20);
    }
    let later = bucket.give_back(&limit, 100 * S, 5);
    assert_eq!(count(&limit, later, std::iter::repeat_n(100 * S, 50)), 20);
}

#[test]
fn settling_charges_what_was_used() {
    let limit = limit(10, 1_000, 20);
    let left = |bucket: Bucket| count(&limit, bucket, std::iter::repeat_n(S, 99));
    let reserved = admitted(Bucket::default().take(&limit, S, 10));
    assert_eq!(left(reserved.settle(&limit, S, 10, 4)), 16);
    assert_eq!(left(reserved.settle(&limit, S, 10, 10)), 10);
    assert_eq!(left(reserved.settle(&limit, S, 10, 13)), 7);
    assert_eq!(left(reserved.settle(&limit, S, 10, 25)), 0);
    let owing = |used| match reserved.settle(&limit, S, 10, used).take(&limit, S, 1) {
        Decision::Refused { retry_after_ms, .. } => retry_after_ms,
        other => panic!("{other:?}"),
    };
    assert_eq!(owing(25), 600, "5 are owed, and 1 is wanted");
    assert_eq!(owing(40), 2_100);
    assert_eq!(owing(u64::MAX), 2_100, "at most one burst is owed");
}

#[test]
fn a_bucket_of_another_limit_is_at_most_a_nanosecond_off() {
    let before = limit(MAX_TOKENS, 1_000, MAX_TOKENS);
    let bucket = admitted(Bucket::default().take(&before, S, MAX_TOKENS / 7 * 3));
    let after = limit(1, 100, 10);
    let Decision::Admitted { reset_ms, .. } = bucket.take(&after, S, 0) else {
        panic!("less is taken than the burst");
    };
    assert_eq!(reset_ms, 429, "3/7 s, rounded up");
    let lower = limit(1, 100, 2);
    let expected = Decision::Refused {
        retry_after_ms: 329,
        remaining: 0,
        reset_ms: 429,
    };
    assert_eq!(bucket.take(&lower, S, 1), expected);
}

#[test]
fn numbers_that_are_no_limit_are_refused() {
    use InvalidLimit::{TooManyTokens, TooSlow, Zero};
    for (tokens, period_ms, burst, expected) in [
        (0, 1, 1, Err(Zero)),
        (1, 0, 1, Err(Zero)),
        (1, 1, 0, Err(Zero)),
        (MAX_TOKENS + 1, 1, 1, Err(TooManyTokens)),
        (1, 1, MAX_TOKENS + 1, Err(TooManyTokens)),
        (2, MAX_REFILL_MS + 1, 1, Err(TooSlow)),
        (1, MAX_REFILL_MS, 2, Err(TooSlow)),
        (1, 1, MAX_TOKENS, Err(TooSlow)),
        (u64::MAX, u64::MAX, u64::MAX, Err(TooManyTokens)),
        (2, MAX_REFILL_MS, 2, Ok(2)),
        (MAX_TOKENS, MAX_REFILL_MS, MAX_TOKENS, Ok(MAX_TOKENS)),
    ] {
        let found = Limit::new(tokens, period_ms, burst);
        assert_eq!(
            found.map(|limit| limit.burst()),
            expected,
            "{tokens} {period_ms} {burst}"
        );
    }
    assert_eq!(TooSlow.to_string(), "must fill within 366 days");
}

#[test]
fn bytes_that_are_no_bucket_are_none() {
    let limit = limit(3, 7_000, 3);
    let bytes = empty(&limit, 123 * S).encode();
    assert_eq!(Bucket::decode(&bytes), Some(empty(&limit, 123 * S)));
    assert_eq!(bytes.last(), Some(&1), "the version");
    for cut in 0..bytes.len() {
        assert_eq!(Bucket::decode(bytes.get(..cut).unwrap()), None);
    }
    assert_eq!(Bucket::decode(&[bytes.as_slice(), b"x"].concat()), None);
    for version in [0, 2, 255] {
        let mut other = bytes;
        *other.last_mut().unwrap() = version;
        assert_eq!(Bucket::decode(&other), None);
    }
}

/// A token bucket as the textbooks have it: a level that rises with time. In units of
/// 1 / (tokens * period) of a token, so that everything is a whole number.
struct Textbook {
    level: u128,
    last_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Numbers {
    tokens: u64,
    period_ms: u64,
    burst: u64,
}

impl Numbers {
    fn period_ns(&self) -> u128 {
        u128::from(self.period_ms * MS)
    }

    fn full(&self) -> u128 {
        u128::from(self.burst) * self.period_ns()
    }
}

impl Textbook {
    fn take(&mut self, numbers: &Numbers, now_ns: u64, cost: u64) -> (bool, u64) {
        let gained = u128::from(now_ns - self.last_ns) * u128::from(numbers.tokens);
        self.level = (self.level + gained).min(numbers.full());
        self.last_ns = now_ns;
        let cost = u128::from(cost) * numbers.period_ns();
        let is_there = cost <= self.level;
        if is_there {
            self.level -= cost;
        }
        (is_there, (self.level / numbers.period_ns()) as u64)
    }
}

fn numbers() -> impl Strategy<Value = Numbers> {
    let tokens = prop_oneof![1..12_u64, 1..2_000_000_u64];
    let period_ms = prop_oneof![1..20_u64, 1..100_000_u64];
    (tokens, period_ms, 1..40_u64).prop_map(|(tokens, period_ms, burst)| Numbers {
        tokens,
        period_ms,
        burst,
    })
}

/// Steps in time as thousandths of the time that a token takes, and costs.
fn steps() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let wait = prop_oneof![3 => 0..3_000_u64, 1 => Just(0), 1 => 0..60_000_u64];
    proptest::collection::vec((wait, 0..6_u64), 1..80)
}

fn wait_ns(numbers: &Numbers, thousandths: u64) -> u64 {
    (numbers.period_ns() * u128::from(thousandths) / u128::from(numbers.tokens) / 1_000) as u64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn it_decides_like_a_bucket_whose_level_rises(numbers in numbers(), steps in steps(), start in 0..u64::MAX / 2) {
        let limit = limit(numbers.tokens, numbers.period_ms, numbers.burst);
        let mut textbook = Textbook { level: numbers.full(), last_ns: start };
        let (mut bucket, mut now_ns) = (Bucket::default(), start);
        for (wait, cost) in steps {
            now_ns += wait_ns(&numbers, wait);
            let cost = cost.min(numbers.burst);
            let expected = textbook.take(&numbers, now_ns, cost);
            let found = match bucket.take(&limit, now_ns, cost) {
                Decision::Admitted { bucket: next, remaining, .. } => {
                    bucket = Bucket::decode(&next.encode()).unwrap();
                    (true, remaining)
                }
                Decision::Refused { remaining, .. } => (false, remaining),
                Decision::NeverAdmitted => panic!("the cost is within the burst"),
            };
            prop_assert_eq!(found, expected);
            prop_assert_eq!(bucket.is_full(now_ns), textbook.level == numbers.full());
        }
    }

    #[test]
    fn no_window_has_more_than_burst_and_rate_allow_for_the_way_the_clock_went_forward(
        numbers in numbers(),
        steps in proptest::collection::vec((0..3_000_u64, 0..6_u64, any::<bool>()), 1..60),
    ) {
        let limit = limit(numbers.tokens, numbers.period_ms, numbers.burst);
        let (mut bucket, mut now_ns, mut forward_ns) = (Bucket::default(), S, 0);
        let mut taken: Vec<(u64, u64)> = Vec::new();
        for (wait, cost, back) in steps {
            let wait = wait_ns(&numbers, wait);
            if back {
                now_ns = now_ns.saturating_sub(wait / 2);
            } else {
                (now_ns, forward_ns) = (now_ns + wait, forward_ns + wait);
            }
            if let Decision::Admitted { bucket: next, .. } = bucket.take(&limit, now_ns, cost) {
                bucket = next;
                taken.push((forward_ns, cost));
            }
        }
        for (first, (from_ns, _)) in taken.iter().enumerate() {
            let mut sum = 0;
            for (until_ns, cost) in taken.iter().skip(first) {
                sum += u128::from(*cost) * numbers.period_ns();
                let gained = u128::from(until_ns - from_ns) * u128::from(numbers.tokens);
                prop_assert!(sum <= numbers.full() + gained);
            }
        }
    }

    #[test]
    fn who_waits_as_told_is_admitted_and_a_millisecond_earlier_not(numbers in numbers(), steps in steps()) {
        let limit = limit(numbers.tokens, numbers.period_ms, numbers.burst);
        let (mut bucket, mut now_ns) = (Bucket::default(), S);
        for (wait, cost) in steps {
            now_ns += wait_ns(&numbers, wait) / 10;
            match bucket.take(&limit, now_ns, cost.min(numbers.burst)) {
                Decision::Admitted { bucket: next, reset_ms, .. } => {
                    bucket = next;
                    prop_assert!(bucket.is_full(now_ns + reset_ms * MS));
                    prop_assert!(reset_ms == 0 || !bucket.is_full(now_ns + (reset_ms - 1) * MS));
                }
                Decision::Refused { retry_after_ms, .. } => {
                    let at = |ms: u64| bucket.take(&limit, now_ns + ms * MS, cost.min(numbers.burst));
                    let is_there = |decision| matches!(decision, Decision::Admitted { .. });
                    prop_assert!(is_there(at(retry_after_ms)));
                    prop_assert!(!is_there(at(retry_after_ms - 1)));
                }
                Decision::NeverAdmitted => panic!("the cost is within the burst"),
            }
        }
    }

    #[test]
    fn extremes_neither_panic_nor_give_tokens(
        tokens in prop_oneof![Just(1), Just(MAX_TOKENS), 1..=MAX_TOKENS],
        period_ms in prop_oneof![Just(1), Just(MAX_REFILL_MS), 1..=MAX_REFILL_MS],
        burst in prop_oneof![Just(1), Just(MAX_TOKENS), 1..=MAX_TOKENS],
        stored: [u8; 16],
        now_ns in prop_oneof![Just(0), Just(u64::MAX), any::<u64>()],
        later_ns in prop_oneof![Just(0), Just(u64::MAX), any::<u64>()],
        amounts in any::<[u64; 3]>(),
    ) {
        let Ok(limit) = Limit::new(tokens, period_ms, burst) else { return Ok(()) };
        let mut stored = stored;
        stored[14..].copy_from_slice(&[0, 1]);
        let bucket = Bucket::decode(&stored).unwrap();
        let [cost, amount, used] = amounts;
        let _ = bucket.take(&limit, now_ns, cost % burst);
        let _ = bucket.take(&limit, now_ns, burst);
        let _ = bucket.give_back(&limit, now_ns, amount);
        let _ = bucket.settle(&limit, now_ns, amount, used);
        let _ = bucket.full_at_ms();
        // Whatever was stored: two whole bursts at once are never there.
        if let Decision::Admitted { bucket, .. } = bucket.take(&limit, now_ns, burst) {
            let again = bucket.take(&limit, now_ns.min(later_ns), burst);
            let is_refused = matches!(again, Decision::Refused { .. });
            prop_assert!(is_refused);
        }
    }
}
