//! What a pause holds (envoy-lab.md 17), and which sizes a paused filter sees.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use host_sim_host::abi::{Call, StreamKind};

use crate::stage::{PAUSE, Script, Setup, guest, passes};

fn pauses_in_headers() -> Script {
    guest(|_, call| matches!(call, Call::RequestHeaders { .. }).then_some(PAUSE))
}

/// Pauses until the end of the body.
fn reads_the_body() -> Script {
    guest(|_, call| match call {
        Call::RequestHeaders {
            end_of_stream: false,
            ..
        }
        | Call::RequestBody {
            end_of_stream: false,
            ..
        } => Some(PAUSE),
        _ => None,
    })
}

#[test]
fn a_paused_head_is_let_go_by_the_first_piece_of_the_body() {
    let mut stage = Setup::new(&[("a", pauses_in_headers())]).start();
    stage.request(1, &[], false);
    assert_eq!(stage.tried(), []);
    stage.data(1, "first", false);
    assert_eq!(stage.tried(), [1]);
}

#[test]
fn a_paused_head_without_a_body_holds() {
    let mut stage = Setup::new(&[("a", pauses_in_headers())]).start();
    stage.get(1);
    stage.wait(1000);
    assert_eq!(stage.tried(), []);
}

#[test]
fn a_pause_in_every_callback_holds_to_the_end_of_the_body() {
    let mut stage = Setup::new(&[("a", reads_the_body()), ("b", passes())]).start();
    stage.request(1, &[], false);
    stage.data(1, "first", false);
    stage.data(1, "second", false);
    assert_eq!(stage.tried(), []);
    stage.data(1, "", true);
    assert_eq!(
        stage.journal(),
        [
            "a request_headers",
            "a request_body 5",
            "a request_body 11",
            "a request_body 11 end",
            "b request_headers",
            "b request_body 11 end",
        ]
    );
    stage.connect();
    let (_, body, end) = stage.sent_upstream();
    assert_eq!((body.as_str(), end), ("firstsecond", true));
}

#[test]
fn without_the_flag_a_paused_head_holds_the_body_back() {
    let script = guest(|host, call| match call {
        Call::RequestHeaders { context, .. } => {
            host.set_tick_period_milliseconds(100).unwrap();
            assert!(*context > 1);
            Some(PAUSE)
        }
        Call::Tick { .. } => {
            host.set_tick_period_milliseconds(0).unwrap();
            host.set_effective_context(2).unwrap();
            host.continue_stream(StreamKind::Request).unwrap();
            None
        }
        _ => None,
    });
    let setup = Setup::new(&[("a", script), ("b", passes())]);
    let mut stage = setup
        .plugin(0, |plugin| plugin.allow_on_headers_stop_iteration = false)
        .start();
    stage.request(1, &[], false);
    stage.data(1, "first", false);
    stage.data(1, "second", true);
    assert_eq!(stage.journal(), ["a request_headers"]);
    stage.wait(100);
    assert_eq!(
        stage.journal(),
        [
            "a tick",
            "b request_headers",
            "a request_body 11 end",
            "b request_body 11 end"
        ]
    );
}

#[test]
fn a_filter_that_continues_sees_each_piece_alone() {
    let mut stage = Setup::new(&[("a", passes())]).start();
    stage.request(1, &[], false);
    stage.data(1, "first", false);
    stage.data(1, "second", true);
    assert_eq!(
        stage.journal(),
        [
            "a request_headers",
            "a request_body 5",
            "a request_body 6",
            "a request_body 0 end"
        ]
    );
}

#[test]
fn a_response_is_held_and_released_like_a_request() {
    let script = guest(|_, call| match call {
        Call::ResponseHeaders { .. }
        | Call::ResponseBody {
            end_of_stream: false,
            ..
        } => Some(PAUSE),
        _ => None,
    });
    let mut stage = Setup::new(&[("a", passes()), ("b", script)]).start();
    stage.get(1);
    stage.answer(200, &[], false);
    stage.answer_data("one", false);
    assert_eq!(stage.response(1).status, 0);
    stage.answer_data("two", true);
    let response = stage.response(1);
    assert_eq!(
        (response.status, response.body.as_str(), response.complete),
        (200, "onetwo", true)
    );
    assert_eq!(
        stage.journal()[2..],
        [
            "b response_headers",
            "b response_body 3",
            "b response_body 6",
            "b response_body 6 end",
            "a response_headers",
            "a response_body 6 end",
            "a log",
            "b log",
            "a done",
            "b done",
        ]
    );
}

#[test]
fn a_later_filter_may_hold_what_an_earlier_one_has_released() {
    let mut stage = Setup::new(&[("a", reads_the_body()), ("b", reads_the_body())]).start();
    stage.request(1, &[], false);
    stage.data(1, "12345", true);
    assert_eq!(
        stage.journal(),
        [
            "a request_headers",
            "a request_body 5",
            "a request_body 5 end",
            "b request_headers",
            "b request_body 5 end"
        ]
    );
    stage.connect();
    assert_eq!(stage.sent_upstream().1, "12345");
}

#[test]
fn a_resume_of_a_stream_that_is_not_paused_is_logged_and_does_nothing() {
    let told = Arc::new(AtomicBool::new(false));
    let stream = Arc::new(AtomicU32::new(0));
    let (told_in, stream_in) = (Arc::clone(&told), Arc::clone(&stream));
    let script = guest(move |host, call| {
        match call {
            Call::RequestHeaders { context, .. } => {
                stream_in.store(*context, Ordering::Relaxed);
                host.set_tick_period_milliseconds(10).unwrap();
            }
            Call::Tick { .. } if !told_in.swap(true, Ordering::Relaxed) => {
                host.set_effective_context(stream_in.load(Ordering::Relaxed))
                    .unwrap();
                host.continue_stream(StreamKind::Request).unwrap();
            }
            _ => {}
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)]).start();
    stage.get(1);
    stage.wait(20);
    assert!(told.load(Ordering::Relaxed));
    assert!(stage.host_log_has("not paused"));
    assert_eq!(stage.tried(), [1]);
}
