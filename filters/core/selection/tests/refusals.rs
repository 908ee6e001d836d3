//! What a client is told when nobody may be tried.

use dragoman_circuit::Admission;
use dragoman_contract::{Class, Code};
use dragoman_selection::{
    Candidate, MAX_RETRY_AFTER_S, Need, Policy, Pool, Refusal, Strategy, refusal,
};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const POLICY: Policy = Policy {
    canary_percent: 0,
    background_percent: 50,
};

/// A worker that nothing speaks against, with a few changes.
macro_rules! worker {
    ($($field:ident: $value:expr),*) => {
        Candidate { $($field: $value,)* ..Candidate::unknown(1) }
    };
}

fn refused(candidates: &[Candidate], class: Class) -> Refusal {
    let need = Need {
        class,
        caller: 0,
        tokens: 100,
        tools: true,
    };
    let pool = Pool::new(candidates, &need, &POLICY, Strategy::Failover);
    assert!(pool.is_empty() || !pool.trials().is_empty());
    refusal(candidates, &pool.removed, &need, &POLICY)
}

#[track_caller]
fn check(candidates: &[Candidate], code: Code, interactive_s: Option<u32>) {
    let expected = |retry_after_s| Refusal {
        code,
        retry_after_s,
    };
    assert_eq!(
        refused(candidates, Class::Interactive),
        expected(interactive_s)
    );
    let longer = interactive_s.map(|seconds| (seconds * 3).min(MAX_RETRY_AFTER_S));
    assert_eq!(refused(candidates, Class::Background), expected(longer));
}

#[test]
fn each_reason_has_its_code() {
    let open = Admission::Open {
        retry_after_ms: 12_001,
    };
    check(&[], Code::NoCapacity, Some(10));
    check(&[worker!(permitted: false)], Code::NoCapacity, Some(10));
    check(
        &[worker!(admission: open)],
        Code::NoBackendAvailable,
        Some(13),
    );
    check(&[worker!(ready: false)], Code::NoBackendAvailable, Some(5));
    check(
        &[worker!(context_tokens: Some(99))],
        Code::ContextLengthExceeded,
        None,
    );
    check(&[worker!(tools: false)], Code::ToolsNotSupported, None);
}

#[test]
fn the_soonest_worker_decides_when_to_ask_again() {
    let open = |retry_after_ms| worker!(admission: Admission::Open { retry_after_ms });
    check(
        &[open(30_000), open(2_000)],
        Code::NoBackendAvailable,
        Some(2),
    );
    check(
        &[open(30_000), worker!(ready: false)],
        Code::NoBackendAvailable,
        Some(5),
    );
    check(
        &[open(u64::MAX)],
        Code::NoBackendAvailable,
        Some(MAX_RETRY_AFTER_S),
    );
}

#[test]
fn what_can_pass_is_told_rather_than_what_cannot() {
    let full = worker!(cap: Some(1), in_flight: 1);
    let candidates = [
        worker!(tools: false),
        worker!(ready: false),
        full,
        worker!(permitted: false),
    ];
    check(&candidates, Code::Overloaded, Some(1));
    let candidates = [worker!(context_tokens: Some(1)), worker!(ready: false)];
    check(&candidates, Code::NoBackendAvailable, Some(5));
}

#[test]
fn a_full_worker_has_room_when_the_first_of_its_requests_ends() {
    let full = |completion_ms| [worker!(cap: Some(4), in_flight: 4, completion_ms: completion_ms)];
    let interactive_s =
        |completion_ms| refused(&full(completion_ms), Class::Interactive).retry_after_s;
    // Four requests of 60 s end one every 15 s.
    assert_eq!(interactive_s(Some(60_000.0)), Some(15));
    assert_eq!(interactive_s(Some(10.0)), Some(1));
    assert_eq!(interactive_s(None), Some(1));
    for nonsense in [f32::NAN, f32::INFINITY, -1.0] {
        let seconds = interactive_s(Some(nonsense)).unwrap_or_default();
        assert!((1..=MAX_RETRY_AFTER_S).contains(&seconds), "{nonsense}");
    }
    // Background work may have two of the four: three have to end.
    let background = refused(&full(Some(60_000.0)), Class::Background);
    assert_eq!(background.retry_after_s, Some(45 * 3));
}

#[test]
fn a_trial_that_another_request_makes_is_waited_for() {
    let waiting = worker!(admission: dragoman_circuit::admits(
        &dragoman_circuit::Circuit::default(), 0, 1
    ));
    // Closed here; what counts is that it was not removed.
    let need = Need {
        class: Class::Interactive,
        caller: 0,
        tokens: 0,
        tools: false,
    };
    let told = refusal(&[waiting], &[], &need, &POLICY);
    assert_eq!(told.code, Code::NoBackendAvailable);
    assert_eq!(told.retry_after_s, Some(5));
}
