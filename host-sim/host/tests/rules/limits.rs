//! Buffer limits (envoy-lab.md 3 and 18). The stage's listener holds 1024 bytes.

use host_sim_host::abi::Call;

use crate::stage::{PAUSE, Script, Setup, guest, passes};

fn holds_requests() -> Script {
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
fn a_held_body_of_the_limit_passes_and_one_byte_more_is_413() {
    for (bytes, status) in [(1024, 0), (1025, 413)] {
        let mut stage = Setup::new(&[("a", holds_requests())]).start();
        stage.request(1, &[], false);
        stage.data(1, "x", false);
        stage.data(1, &"x".repeat(bytes - 1), false);
        assert_eq!(stage.response(1).status, status, "{bytes}");
        stage.data(1, "", true);
        assert_eq!(stage.tried().len(), usize::from(status == 0), "{bytes}");
    }
}

#[test]
fn a_413_runs_the_response_filters_that_saw_the_request_and_closes_the_connection() {
    let mut stage =
        Setup::new(&[("a", passes()), ("b", holds_requests()), ("c", passes())]).start();
    stage.request(1, &[], false);
    stage.data(1, &"x".repeat(1025), false);
    let response = stage.response(1);
    assert_eq!(
        (response.status, response.body.as_str()),
        (413, "Payload Too Large")
    );
    assert!(
        response
            .headers
            .contains(&(b"connection".to_vec(), b"close".to_vec()))
    );
    assert_eq!(
        stage.last_log(),
        r#"{"code":413,"details":"request_payload_too_large","flags":"-"}"#
    );
    assert_eq!(
        stage.journal(),
        [
            "a request_headers",
            "b request_headers",
            "a request_body 1025",
            "b request_body 1025",
            "b response_headers",
            "a response_headers",
            "b response_body 17 end",
            "a response_body 17 end",
            "a log",
            "b log",
            "c log",
            "a done",
            "b done",
            "c done",
        ]
    );
}

#[test]
fn the_limit_of_the_virtual_host_replaces_the_listeners() {
    let mut setup = Setup::new(&[("a", holds_requests())]);
    setup.http().virtual_hosts[0].request_body_buffer_limit = Some(4096);
    let mut stage = setup.start();
    stage.post(1, &"x".repeat(4096));
    assert_eq!(stage.tried(), [1]);
    stage.request(2, &[], false);
    stage.data(2, &"x".repeat(4097), false);
    stage.data(2, "", true);
    assert_eq!(stage.response(2).status, 413);
}

#[test]
fn a_body_that_nobody_holds_has_no_limit_but_is_not_replayed() {
    let mut stage = Setup::new(&[("a", passes())]).retry("5xx", 2).start();
    stage.post(1, &"x".repeat(1025));
    stage.answer(503, &[], true);
    stage.wait(1000);
    assert_eq!(stage.response(1).status, 503);
    assert_eq!(stage.tried(), [1]);
}

#[test]
fn a_response_held_over_the_limit_in_an_attempt_is_500_and_not_retried() {
    let holds = guest(|_, call| {
        matches!(
            call,
            Call::ResponseHeaders { .. } | Call::ResponseBody { .. }
        )
        .then_some(PAUSE)
    });
    let mut stage = Setup::new(&[])
        .attempt("workers", "attempt", holds)
        .retry("5xx", 2)
        .start();
    stage.get(1);
    stage.answer(200, &[], false);
    stage.answer_data(&"x".repeat(1000), false);
    stage.answer_data(&"x".repeat(25), false);
    let response = stage.response(1);
    assert_eq!(
        (response.status, response.body.as_str()),
        (500, "Internal Server Error")
    );
    stage.wait(1000);
    assert_eq!(stage.tried(), [1]);
}

#[test]
fn a_smaller_limit_of_the_virtual_host_bounds_only_the_replay() {
    for (bytes, tried) in [(100, 2), (101, 1)] {
        let mut setup = Setup::new(&[("a", holds_requests())]).retry("5xx", 1);
        setup.http().virtual_hosts[0].request_body_buffer_limit = Some(100);
        let mut stage = setup.start();
        stage.post(1, &"x".repeat(bytes));
        stage.answer(503, &[], true);
        stage.wait(100);
        assert_eq!(stage.tried().len(), tried, "{bytes}");
    }
}
