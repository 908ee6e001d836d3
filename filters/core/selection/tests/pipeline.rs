//! Who is among the candidates, in which group, and why the others are not.
#![allow(clippy::indexing_slicing, reason = "a test may panic")]

use dragoman_circuit::{Admission, Circuit, Rule, Verdict, admits, record};
use dragoman_contract::Class;
use dragoman_selection::{
    Candidate, Classes, Draw, Need, Policy, Pool, Reason, Strategy, caller_hash,
};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const POLICY: Policy = Policy {
    canary_percent: 0,
    background_percent: 50,
};
const NEED: Need = Need {
    class: Class::Interactive,
    caller: 0,
    tokens: 0,
    tools: false,
};
const BACKGROUND: Need = Need {
    class: Class::Background,
    ..NEED
};

/// A worker that nothing speaks against, with a few changes.
macro_rules! worker {
    ($($field:ident: $value:expr),*) => {
        Candidate { $($field: $value,)* ..Candidate::unknown(1) }
    };
}

fn pool<'a>(candidates: &'a [Candidate], need: &Need) -> Pool<'a> {
    Pool::new(candidates, need, &POLICY, Strategy::Failover)
}

fn tried(candidates: &[Candidate], need: &Need, policy: &Policy) -> Vec<usize> {
    let draw = Draw {
        random: 0,
        turn: 0,
        caller: need.caller,
    };
    Pool::new(candidates, need, policy, Strategy::Failover).order(Strategy::Failover, &draw, 16)
}

/// What a circuit says after a failure and so many milliseconds.
fn admission(later_ms: u64) -> Admission {
    let rule = Rule {
        threshold: 1,
        cooldown_ms: 1000,
    };
    let open = record(&rule, &Circuit::default(), 0, Verdict::Failure, None);
    admits(&open.unwrap_or_default(), later_ms, 1)
}

#[test]
fn each_filter_says_why() {
    let table = [
        (Reason::Circuit, worker!(admission: admission(0))),
        (Reason::NotReady, worker!(ready: false)),
        (Reason::NotPermitted, worker!(permitted: false)),
        (Reason::ContextLength, worker!(context_tokens: Some(99))),
        (Reason::Tools, worker!(tools: false)),
        (
            Reason::Class,
            worker!(classes: Classes::NONE.with(Class::Background)),
        ),
        (Reason::Full, worker!(in_flight: 4, cap: Some(4))),
        (Reason::Version, worker!(canary: true)),
    ];
    let need = Need {
        tokens: 100,
        tools: true,
        ..NEED
    };
    for (why, candidate) in table {
        let candidates = [candidate, worker!()];
        let pool = pool(&candidates, &need);
        assert_eq!(pool.removed, [(0, why)]);
        assert_eq!(pool.len(), 1, "{why}");
    }
}

#[test]
fn the_first_filter_in_the_order_gives_the_reason() {
    let mut candidate = worker!(
        admission: admission(0),
        ready: false,
        permitted: false,
        context_tokens: Some(1),
        classes: Classes::NONE,
        in_flight: 1,
        cap: Some(1)
    );
    let need = Need { tokens: 2, ..NEED };
    let why = |candidate: &Candidate| pool(std::slice::from_ref(candidate), &need).removed[0].1;
    assert_eq!(why(&candidate), Reason::Circuit);
    candidate.admission = Admission::Closed;
    assert_eq!(why(&candidate), Reason::NotReady);
    candidate.ready = true;
    assert_eq!(why(&candidate), Reason::NotPermitted);
    candidate.permitted = true;
    assert_eq!(why(&candidate), Reason::ContextLength);
    candidate.context_tokens = None;
    assert_eq!(why(&candidate), Reason::Class);
    candidate.classes = Classes::ALL;
    assert_eq!(why(&candidate), Reason::Full);
}

#[test]
fn background_work_is_refused_at_its_share_of_the_cap() {
    for (in_flight, interactive, background) in [
        (0, true, true),
        (1, true, true),
        (2, true, false),
        (3, true, false),
        (4, false, false),
    ] {
        let one = [worker!(in_flight: in_flight, cap: Some(4))];
        assert_eq!(!pool(&one, &NEED).is_empty(), interactive);
        assert_eq!(!pool(&one, &BACKGROUND).is_empty(), background);
    }
}

#[test]
fn a_cap_of_one_lets_background_work_run_too() {
    let one = worker!(cap: Some(1));
    assert_eq!(one.room(Class::Background, 1), Some(1));
    assert_eq!(one.room(Class::Interactive, 1), Some(1));
    assert_eq!(worker!().room(Class::Background, 1), None);
}

#[test]
fn workers_with_the_model_come_first() {
    let candidates = [worker!(warm: false), worker!(), worker!(warm: false)];
    assert_eq!(tried(&candidates, &NEED, &POLICY), [1, 0, 2]);
}

#[test]
fn background_work_gets_no_cold_worker_while_there_is_a_warm_one() {
    let cold = worker!(warm: false);
    let full = worker!(in_flight: 9, cap: Some(9));
    let gone = worker!(ready: false);
    assert_eq!(tried(&[cold, worker!()], &BACKGROUND, &POLICY), [1]);
    // It waits for the warm one.
    let candidates = [cold, full];
    assert_eq!(
        pool(&candidates, &BACKGROUND).removed,
        [(0, Reason::Cold), (1, Reason::Full)]
    );
    // One that cannot be waited for does not count.
    assert_eq!(tried(&[cold, gone], &BACKGROUND, &POLICY), [0]);
    assert_eq!(tried(&[cold], &BACKGROUND, &POLICY), [0]);
}

/// Callers of ten thousand that are in a slice of so many percent.
fn in_slice(canary_percent: u32) -> Vec<u64> {
    let policy = Policy {
        canary_percent,
        ..POLICY
    };
    let candidates = [worker!(), worker!(canary: true)];
    (0..10_000)
        .map(|number| caller_hash("tenant", &format!("app-{number}")))
        .filter(|caller| {
            let need = Need {
                caller: *caller,
                ..NEED
            };
            tried(&candidates, &need, &policy)[0] == 1
        })
        .collect()
}

#[test]
fn the_slice_has_its_percentage_of_the_callers_and_grows_by_new_ones_only() {
    assert!(in_slice(0).is_empty());
    assert_eq!(in_slice(100).len(), 10_000);
    let (five, twenty) = (in_slice(5), in_slice(20));
    assert!((400..=600).contains(&five.len()), "{}", five.len());
    assert!((1800..=2200).contains(&twenty.len()), "{}", twenty.len());
    assert!(five.iter().all(|caller| twenty.contains(caller)));
}

#[test]
fn a_canary_caller_falls_back_and_a_stable_one_does_not() {
    let canary = Policy {
        canary_percent: 100,
        ..POLICY
    };
    let next = worker!(canary: true, warm: false);
    // Cold or not, the next version comes first.
    let both = [worker!(), next];
    assert_eq!(tried(&both, &NEED, &canary), [1, 0]);
    let next_is_gone = [worker!(), worker!(canary: true, ready: false)];
    assert_eq!(tried(&next_is_gone, &NEED, &canary), [0]);
    let stable_is_gone = [worker!(ready: false), next];
    assert_eq!(tried(&stable_is_gone, &NEED, &POLICY), [0_usize; 0]);
}

#[test]
fn a_trial_is_told_apart_and_is_not_in_the_order() {
    let candidates = [worker!(), worker!(admission: admission(1000))];
    assert_eq!(pool(&candidates, &NEED).trials(), [1]);
    assert_eq!(tried(&candidates, &NEED, &POLICY), [0]);
    // Not for the sake of the trial to a worker that this request would get only after others.
    let cold = [worker!(admission: admission(1000), warm: false), worker!()];
    assert_eq!(pool(&cold, &NEED).trials(), [0_usize; 0]);
}
