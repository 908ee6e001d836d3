//! Time: answers expire, leases run out, and those of live requests do not.

use std::time::Duration;

use crate::process::{ANSWER, Further, Process, SECTION, chat};

const DAY: Duration = Duration::from_secs(86_400);
const LEASE: Duration = Duration::from_secs(60);
const TICK: Duration = Duration::from_secs(15);

#[test]
fn an_answer_is_kept_for_its_time_and_then_the_request_runs_anew() {
    for size in [10, 100_000] {
        let process = Process::new(SECTION);
        let body = vec![b'x'; size];
        process.has_answered(&chat("k"), &body);
        process.wait(DAY - Duration::from_millis(1));
        assert_eq!(process.answered(&chat("k")).body, body);
        process.wait(Duration::from_millis(1));
        process.runs(&chat("k"));
    }
}

#[test]
fn a_request_that_is_lost_with_its_vm_locks_its_key_no_longer_than_the_lease() {
    let process = Process::new(SECTION);
    std::mem::forget(process.runs(&chat("k")));
    // The VM that comes after it knows nothing of the request.
    let fresh = process.another_thread(SECTION);
    fresh.wait(LEASE - Duration::from_millis(1));
    fresh.tick();
    assert_eq!(fresh.refused(&chat("k")).0, 409);
    fresh.wait(Duration::from_millis(1));
    fresh.tick();
    fresh.has_answered(&chat("k"), ANSWER);
}

#[test]
fn a_live_request_keeps_its_key_and_its_chunks_however_long_it_takes() {
    let process = Process::new(SECTION);
    let body = vec![b'x'; 150_000];
    let mut life = process.runs(&chat("k"));
    life.begins(&[(":status", "200")]);
    life.response_data(&body[..100_000], false);
    for _ in 0..100 {
        process.wait(TICK);
        process.tick();
        assert_eq!(process.refused(&chat("k")).1, "request_in_progress");
    }
    life.host.now = process.now.get();
    life.response_data(&body[100_000..], true);
    life.done();
    assert_eq!(process.answered(&chat("k")).body, body);
}

#[test]
fn a_request_that_is_over_is_not_renewed() {
    let process = Process::new(SECTION);
    let mut life = process.runs(&chat("k"));
    life.done();
    process.tick();
    process.runs(&chat("k"));
}

#[test]
fn who_lost_the_key_changes_nothing_of_the_new_owner_s() {
    let process = Process::new(SECTION);
    let mut late = process.runs(&chat("k"));
    process.wait(LEASE);
    let mut new = process.runs(&chat("k"));

    late.host.now = process.now.get();
    late.works("w1");
    late.answers(&[(":status", "200")], &[b"late"]);
    late.done();
    assert_eq!(late.word(), "lost");
    assert_eq!(process.refused(&chat("k")).1, "request_in_progress");

    new.host.now = process.now.get();
    new.answers(&[(":status", "200")], &[b"new"]);
    assert_eq!(process.answered(&chat("k")).text(), "new");
}

#[test]
fn an_answer_after_the_lease_is_kept_if_nobody_came() {
    let process = Process::new(SECTION);
    let mut late = process.runs(&chat("k"));
    process.wait(LEASE * 2);
    late.host.now = process.now.get();
    late.answers(&[(":status", "200")], &[ANSWER]);
    assert_eq!(process.answered(&chat("k")).body, ANSWER);
}
