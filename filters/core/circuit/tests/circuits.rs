//! What a circuit promises.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

use Verdict::{Failure, Success};
use dragoman_circuit::{
    Admission, CIRCUIT_BYTES, Circuit, Rule, Ticket, Verdict, admits, record, release,
};
use proptest::prelude::*;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const RULE: Rule = Rule {
    threshold: 3,
    cooldown_ms: 30_000,
};
const TRIAL_LEASE_MS: u64 = 60_000;

fn after(circuit: Circuit, now_ms: u64, verdicts: &[Verdict]) -> Circuit {
    let next = |circuit, verdict: &Verdict| {
        record(&RULE, &circuit, now_ms, *verdict, None).unwrap_or(circuit)
    };
    verdicts.iter().fold(circuit, next)
}

/// Opened at 0, so for trial at 30,000.
fn open() -> Circuit {
    after(Circuit::default(), 0, &[Failure; 3])
}

fn trial(circuit: &Circuit, now_ms: u64) -> (Circuit, Ticket) {
    match admits(circuit, now_ms, TRIAL_LEASE_MS) {
        Admission::Trial { circuit, ticket } => (circuit, ticket),
        other => panic!("{other:?}"),
    }
}

fn is_closed(circuit: &Circuit, now_ms: u64) -> bool {
    admits(circuit, now_ms, TRIAL_LEASE_MS) == Admission::Closed
}

fn opens_in(circuit: &Circuit, now_ms: u64) -> u64 {
    match admits(circuit, now_ms, TRIAL_LEASE_MS) {
        Admission::Open { retry_after_ms } => retry_after_ms,
        other => panic!("{other:?}"),
    }
}

#[test]
fn failures_in_a_row_open_the_circuit_for_the_cooldown() {
    for failures in 0..3 {
        assert!(is_closed(
            &after(Circuit::default(), 0, &[Failure; 3][..failures]),
            0
        ));
    }
    assert_eq!(opens_in(&open(), 0), 30_000);
    assert_eq!(opens_in(&open(), 29_999), 1);
    trial(&open(), 30_000);
    trial(&open(), u64::MAX);
}

#[test]
fn a_success_between_starts_the_count_again() {
    let verdicts = [Failure, Failure, Success, Failure, Failure];
    let circuit = after(Circuit::default(), 0, &verdicts);
    assert!(is_closed(&circuit, 0));
    assert_eq!(opens_in(&after(circuit, 7, &[Failure]), 7), 30_000);
}

#[test]
fn a_success_of_a_worker_without_failures_needs_no_write() {
    let closed = Circuit::default();
    assert_eq!(record(&RULE, &closed, 0, Success, None), None);
    let failed = after(closed, 0, &[Failure]);
    assert_eq!(record(&RULE, &failed, 0, Success, None), Some(closed));
}

#[test]
fn exactly_one_request_tries_after_the_cooldown() {
    let (circuit, _) = trial(&open(), 30_000);
    assert_eq!(opens_in(&circuit, 30_000), 60_000);
    assert_eq!(opens_in(&circuit, 89_999), 1);
}

#[test]
fn a_trial_that_succeeds_closes_the_circuit_and_the_count_starts_at_0() {
    let (circuit, ticket) = trial(&open(), 30_000);
    let circuit = record(&RULE, &circuit, 31_000, Success, Some(ticket)).unwrap();
    assert!(is_closed(&circuit, 31_000));
    assert!(is_closed(&after(circuit, 31_000, &[Failure; 2]), 31_000));
}

#[test]
fn a_trial_that_fails_opens_the_circuit_for_another_cooldown() {
    let (circuit, ticket) = trial(&open(), 30_000);
    let circuit = record(&RULE, &circuit, 31_000, Failure, Some(ticket)).unwrap();
    assert_eq!(opens_in(&circuit, 31_000), 30_000);
    trial(&circuit, 61_000);
}

#[test]
fn a_lost_trial_locks_nothing_beyond_its_lease_and_its_late_outcome_does_not_count() {
    let (circuit, lost) = trial(&open(), 30_000);
    let (circuit, ticket) = trial(&circuit, 90_000);
    assert_ne!(lost, ticket);
    for verdict in [Success, Failure] {
        assert_eq!(record(&RULE, &circuit, 90_001, verdict, Some(lost)), None);
    }
    let failed = record(&RULE, &circuit, 90_002, Failure, Some(ticket)).unwrap();
    assert_eq!(record(&RULE, &failed, 90_003, Success, Some(lost)), None);
    let closed = record(&RULE, &circuit, 90_002, Success, Some(ticket)).unwrap();
    assert!(is_closed(&closed, 90_002));
}

#[test]
fn a_trial_that_ends_after_its_lease_still_decides_if_none_came_after_it() {
    let (circuit, ticket) = trial(&open(), 30_000);
    let circuit = record(&RULE, &circuit, 200_000, Success, Some(ticket)).unwrap();
    assert!(is_closed(&circuit, 200_000));
}

#[test]
fn requests_from_before_it_opened_change_nothing() {
    let (on_trial, _) = trial(&open(), 30_000);
    for circuit in [open(), on_trial] {
        for verdict in [Success, Failure] {
            assert_eq!(record(&RULE, &circuit, 30_001, verdict, None), None);
        }
    }
}

#[test]
fn a_released_trial_lets_the_next_request_try() {
    let (circuit, ticket) = trial(&open(), 30_000);
    let released = release(&circuit, 30_005, ticket).unwrap();
    let (again, next) = trial(&released, 30_005);
    assert_ne!(next, ticket);
    assert_eq!(release(&again, 30_006, ticket), None, "another's trial");
    assert_eq!(record(&RULE, &again, 30_006, Success, Some(ticket)), None);
    assert_eq!(release(&released, 30_006, ticket), None, "released already");
    assert_eq!(release(&open(), 0, Ticket::default()), None);
    assert_eq!(release(&Circuit::default(), 0, Ticket::default()), None);
}

#[test]
fn a_ticket_is_not_given_twice_when_the_circuit_was_closed_between() {
    let (circuit, first) = trial(&open(), 30_000);
    let circuit = record(&RULE, &circuit, 31_000, Success, Some(first)).unwrap();
    let circuit = after(circuit, 32_000, &[Failure; 3]);
    let (circuit, second) = trial(&circuit, 62_000);
    assert_ne!(first, second);
    assert_eq!(record(&RULE, &circuit, 62_001, Success, Some(first)), None);
    assert_eq!(Ticket::from_u32(second.to_u32()), second);
}

#[test]
fn a_threshold_of_0_is_1_and_a_lease_of_0_still_lets_one_try_at_a_time() {
    let rule = Rule {
        threshold: 0,
        cooldown_ms: 0,
    };
    let closed = Circuit::default();
    assert_eq!(record(&rule, &closed, 0, Success, None), None);
    let open = record(&rule, &closed, 5, Failure, None).unwrap();
    let Admission::Trial { circuit, .. } = admits(&open, 5, 0) else {
        panic!("the cool-down is over");
    };
    assert_eq!(
        admits(&circuit, 5, 0),
        Admission::Open { retry_after_ms: 1 }
    );
}

#[test]
fn the_end_of_time_is_no_panic() {
    let rule = Rule {
        threshold: u32::MAX,
        cooldown_ms: u64::MAX,
    };
    let (circuit, ticket) = trial(&open(), u64::MAX);
    let failed = record(&rule, &circuit, u64::MAX, Failure, Some(ticket)).unwrap();
    let Admission::Trial { .. } = admits(&failed, u64::MAX, u64::MAX) else {
        panic!("the cool-down cannot reach beyond");
    };
}

#[test]
fn a_circuit_reads_as_it_was_written() {
    let (on_trial, _) = trial(&open(), 30_000);
    let failed = after(Circuit::default(), 0, &[Failure; 2]);
    for circuit in [Circuit::default(), failed, open(), on_trial] {
        assert_eq!(Circuit::decode(&circuit.encode()), circuit);
    }
}

#[test]
fn unknown_or_cut_bytes_are_a_closed_circuit() {
    let bytes = open().encode();
    assert_eq!(bytes.len(), CIRCUIT_BYTES);
    for cut in 0..bytes.len() {
        assert_eq!(Circuit::decode(&bytes[..cut]), Circuit::default());
    }
    let longer = [bytes.as_slice(), b"x"].concat();
    assert_eq!(Circuit::decode(&longer), Circuit::default());
    for (place, value) in [(0, 0), (0, 2), (1, 3), (1, 255)] {
        let mut other = bytes;
        other[place] = value;
        assert_eq!(Circuit::decode(&other), Circuit::default());
    }
}

/// What a request does, split into the host calls between which others may come.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Reads the circuit, to see whether it is admitted.
    Ask,
    /// Stores the trial it was offered.
    Claim,
    /// Reads the circuit and stores the outcome, as one step.
    End(Verdict),
    /// Gives its trial up.
    Release,
    /// Time goes by.
    Wait(u64),
}

#[derive(Clone, Copy, Default)]
struct Request {
    offered: Option<(Circuit, Ticket, u64)>,
    trial: Option<Ticket>,
}

/// One worker's record with its token.
struct Cell {
    bytes: Vec<u8>,
    cas: u64,
}

impl Cell {
    fn circuit(&self) -> Circuit {
        Circuit::decode(&self.bytes)
    }

    fn set(&mut self, circuit: &Circuit, cas: u64) -> bool {
        let is_latest = cas == self.cas;
        if is_latest {
            (self.bytes, self.cas) = (circuit.encode().to_vec(), cas + 1);
        }
        is_latest
    }
}

fn step() -> impl Strategy<Value = (usize, Step)> {
    let step = prop_oneof![
        4 => Just(Step::Ask),
        4 => Just(Step::Claim),
        2 => Just(Step::End(Failure)),
        1 => Just(Step::End(Success)),
        1 => Just(Step::Release),
        2 => prop_oneof![0..200_u64, 0..40_000_u64].prop_map(Step::Wait),
    ];
    (0..4_usize, step)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn under_any_interleaving_one_request_tries_at_a_time(steps in proptest::collection::vec(step(), 1..120)) {
        let mut cell = Cell { bytes: open().encode().to_vec(), cas: 1 };
        let mut requests = [Request::default(); 4];
        let mut now_ms = 29_000;
        // The trial that nothing has ended yet: whose, and until when its lease runs.
        let mut running: Option<(Ticket, u64)> = None;
        for (who, step) in steps {
            let request = &mut requests[who];
            let (circuit, cas) = (cell.circuit(), cell.cas);
            match step {
                Step::Wait(ms) => now_ms += ms,
                Step::Ask => {
                    request.offered = match admits(&circuit, now_ms, TRIAL_LEASE_MS) {
                        Admission::Trial { circuit, ticket } => Some((circuit, ticket, cas)),
                        Admission::Closed | Admission::Open { .. } => None,
                    };
                }
                Step::Claim => {
                    let Some((circuit, ticket, cas)) = request.offered.take() else { continue };
                    if cell.set(&circuit, cas) {
                        if let Some((_, until_ms)) = running {
                            prop_assert!(now_ms >= until_ms, "two trials at a time");
                        }
                        // The lease counts from the offer, which is never later than now.
                        let Admission::Open { retry_after_ms } = admits(&circuit, now_ms, TRIAL_LEASE_MS) else {
                            running = None;
                            continue;
                        };
                        running = Some((ticket, now_ms + retry_after_ms));
                        request.trial = Some(ticket);
                    }
                }
                Step::End(verdict) => {
                    let trial = request.trial.take();
                    let Some(after) = record(&RULE, &circuit, now_ms, verdict, trial) else { continue };
                    prop_assert!(cell.set(&after, cas));
                    if running.is_some_and(|(ticket, _)| Some(ticket) == trial) {
                        running = None;
                        prop_assert_eq!(is_closed(&after, now_ms), verdict == Success);
                    } else {
                        prop_assert!(is_closed(&circuit, now_ms), "only the latest trial counts");
                    }
                }
                Step::Release => {
                    let Some(trial) = request.trial.take() else { continue };
                    let Some(after) = release(&circuit, now_ms, trial) else { continue };
                    prop_assert!(cell.set(&after, cas));
                    prop_assert_eq!(running.take().map(|(ticket, _)| ticket), Some(trial));
                }
            }
        }
    }
}
