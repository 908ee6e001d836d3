//! The client leaves (envoy-lab.md 29).

use std::sync::{Arc, Mutex};

use host_sim_host::abi::Call;
use host_sim_host::io::Command;

use crate::stage::{PAUSE, Script, Setup, guest, passes};

const LOG: &str = r#"{"code":0,"details":"downstream_remote_disconnect","flags":"DC"}"#;

#[test]
fn while_a_filter_waits_all_filters_are_told_even_those_that_saw_nothing() {
    let waits = guest(|_, call| matches!(call, Call::RequestHeaders { .. }).then_some(PAUSE));
    let mut stage = Setup::new(&[("a", passes()), ("b", waits), ("c", passes())]).start();
    stage.get(1);
    stage.journal();
    stage.leave(1);
    assert_eq!(
        stage.journal(),
        ["a log", "b log", "c log", "a done", "b done", "c done"]
    );
    assert_eq!(stage.last_log(), LOG);
}

#[test]
fn before_the_response_the_attempt_learns_last_and_why() {
    let seen = Arc::new(Mutex::new(None));
    let seen_in = Arc::clone(&seen);
    let attempt: Script = guest(move |host, call| {
        if let Call::Done { .. } = call {
            *seen_in.lock().unwrap() = host.get_property(b"response\0code_details").ok();
        }
        None
    });
    let mut stage = Setup::new(&[("a", passes()), ("b", passes())])
        .attempt("workers", "attempt", attempt)
        .start();
    stage.get(1);
    stage.connect();
    stage.journal();
    stage.leave(1);
    assert_eq!(
        stage.journal(),
        ["a log", "b log", "a done", "b done", "attempt done"]
    );
    assert_eq!(
        seen.lock().unwrap().as_deref(),
        Some(&b"downstream_remote_disconnect"[..])
    );
    assert!(stage.commands.contains(&Command::CancelUpstream {
        upstream: stage.latest()
    }));
    assert_eq!(stage.last_log(), LOG);
}

#[test]
fn amid_a_stream_the_code_in_the_log_is_the_one_that_was_sent() {
    let mut stage = Setup::new(&[("a", passes())]).start();
    stage.get(1);
    stage.answer(200, &[], false);
    stage.answer_data("x", false);
    stage.leave(1);
    assert_eq!(stage.last_log(), LOG.replace(":0,", ":200,"));
    stage.answer_data("y", true);
    assert_eq!(stage.response(1).body, "x");
}

#[test]
fn between_two_attempts_no_further_one_is_made() {
    let mut stage = Setup::new(&[]).retry("5xx", 3).start();
    stage.get(1);
    stage.answer(503, &[], true);
    stage.leave(1);
    stage.wait(10_000);
    assert_eq!(stage.tried(), [1]);
    assert_eq!(stage.worker.next_timer(), None);
}
