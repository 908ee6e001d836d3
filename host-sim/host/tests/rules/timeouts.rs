//! Time-outs of requests and attempts.

use std::time::Duration;

use host_sim_host::abi::Call;

use crate::stage::{PAUSE, Setup, guest};

#[test]
fn a_silent_worker_is_left_after_the_time_of_one_attempt() {
    let mut setup = Setup::new(&[]).retry("5xx", 2);
    setup.forward().retry.per_try_timeout = Some(Duration::from_millis(400));
    let mut stage = setup.start();
    stage.get(1);
    for _ in 0..3 {
        stage.connect();
        stage.wait(399);
        let before = stage.tried().len();
        stage.wait(300);
        assert!(stage.tried().len() > before || stage.response(1).status != 0);
    }
    assert_eq!(stage.tried(), [1, 2, 3]);
    assert_eq!(stage.response(1).body, "upstream request timeout");
    assert_eq!(
        stage.last_log(),
        r#"{"code":504,"details":"upstream_per_try_timeout","flags":"URX,UT"}"#
    );
}

#[test]
fn the_time_of_one_attempt_ends_with_the_head() {
    let mut setup = Setup::new(&[]).retry("5xx", 2);
    setup.forward().retry.per_try_timeout = Some(Duration::from_millis(400));
    let mut stage = setup.start();
    stage.get(1);
    stage.answer(200, &[], false);
    stage.wait(5000);
    stage.answer_data("late", true);
    assert_eq!(stage.response(1).body, "late");
}

#[test]
fn a_head_that_is_held_does_not_end_it() {
    let holds = guest(|_, call| matches!(call, Call::ResponseHeaders { .. }).then_some(PAUSE));
    let mut setup = Setup::new(&[])
        .attempt("workers", "attempt", holds)
        .retry("5xx", 1);
    setup.forward().retry.per_try_timeout = Some(Duration::from_millis(400));
    let mut stage = setup.start();
    stage.get(1);
    stage.answer(200, &[], false);
    stage.wait(500);
    assert_eq!(stage.tried(), [1, 2]);
}

#[test]
fn silence_in_a_body_cuts_the_response() {
    let mut setup = Setup::new(&[]).retry("5xx", 2);
    setup.forward().retry.per_try_idle_timeout = Some(Duration::from_secs(1));
    let mut stage = setup.start();
    stage.get(1);
    stage.answer(200, &[], false);
    stage.wait(900);
    stage.answer_data("x", false);
    stage.wait(900);
    assert!(!stage.response(1).broken);
    stage.wait(100);
    assert!(stage.response(1).broken);
    assert_eq!(stage.tried(), [1]);
}

#[test]
fn the_time_of_the_whole_request_bounds_the_response_too() {
    let mut setup = Setup::new(&[]);
    setup.forward().timeout = Some(Duration::from_secs(5));
    let mut stage = setup.start();
    stage.get(1);
    stage.answer(200, &[], false);
    stage.wait(5000);
    assert!(stage.response(1).broken);
    assert_eq!(
        stage.last_log(),
        r#"{"code":200,"details":"response_timeout","flags":"UT"}"#
    );
    stage.get(2);
    stage.wait(5000);
    assert_eq!(
        (stage.response(2).status, stage.response(2).body.as_str()),
        (504, "upstream request timeout")
    );
}

#[test]
fn an_idle_stream_is_answered_or_cut() {
    let mut setup = Setup::new(&[]);
    setup.forward().idle_timeout = Some(Duration::from_secs(1));
    let mut stage = setup.start();
    stage.get(1);
    stage.wait(1000);
    assert_eq!(
        (stage.response(1).status, stage.response(1).body.as_str()),
        (504, "stream timeout")
    );
    assert_eq!(
        stage.last_log(),
        r#"{"code":504,"details":"stream_idle_timeout","flags":"SI"}"#
    );
    stage.get(2);
    stage.answer(200, &[], false);
    for _ in 0..5 {
        stage.wait(900);
        stage.answer_data("x", false);
    }
    assert!(!stage.response(2).broken);
    stage.wait(1000);
    assert!(stage.response(2).broken);
    stage.request(3, &[], false);
    stage.wait(1000);
    assert_eq!(stage.response(3).status, 408);
}

#[test]
fn what_a_worker_sends_keeps_a_stream_alive_even_while_a_filter_holds_it() {
    let holds = guest(|_, call| {
        matches!(
            call,
            Call::ResponseHeaders { .. } | Call::ResponseBody { .. }
        )
        .then_some(PAUSE)
    });
    let mut setup = Setup::new(&[("a", holds)]);
    setup.forward().idle_timeout = Some(Duration::from_secs(1));
    let mut stage = setup.start();
    stage.get(1);
    stage.answer(200, &[], false);
    for _ in 0..3 {
        stage.wait(900);
        assert_eq!(stage.response(1).status, 0);
        stage.answer_data("x", false);
    }
    stage.wait(1000);
    assert_eq!(stage.response(1).status, 504);
}
