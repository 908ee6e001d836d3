//! Lines per request and per attempt (envoy-lab.md 2 and 25).

use host_sim_host::abi::Call;
use host_sim_host::io::ResetReason;

use crate::stage::{Setup, guest, log};

#[test]
fn what_on_log_sets_is_in_the_line_and_what_on_done_sets_is_not() {
    let script = guest(|host, call| {
        match call {
            Call::Log { .. } => host.set_property(b"log", b"yes").unwrap(),
            Call::Done { .. } => host.set_property(b"done", b"yes").unwrap(),
            _ => {}
        }
        None
    });
    let mut setup = Setup::new(&[("a", script)]);
    setup.http().access_log = vec![log(&[
        ("z", "%FILTER_STATE(wasm.log:PLAIN)%"),
        ("a", "%FILTER_STATE(wasm.done:PLAIN)%"),
    ])];
    let mut stage = setup.start();
    stage.get(1);
    stage.answer(200, &[], true);
    assert_eq!(stage.last_log(), r#"{"a":null,"z":"yes"}"#);
}

#[test]
fn numbers_stay_numbers_and_parts_that_are_absent_are_dashes() {
    let mut setup = Setup::new(&[]);
    setup.http().access_log = vec![log(&[
        ("code", "%RESPONSE_CODE%"),
        ("ms", "%DURATION%"),
        ("text", "%RESPONSE_CODE% in %DURATION% ms"),
        ("both", "%FILTER_STATE(wasm.a:PLAIN)%/%REQ(:METHOD)%"),
        ("path", "%REQ(:PATH):4%"),
        ("ts", "%START_TIME(%Y-%m-%dT%H:%M:%S.%3fZ)%"),
    ])];
    let mut stage = setup.start();
    stage.request(1, &[(":path", "/long/path")], true);
    stage.wait(12);
    stage.answer(200, &[], true);
    assert_eq!(
        stage.last_log(),
        r#"{"both":"-/GET","code":200,"ms":12,"path":"/lon","text":"200 in 12 ms","ts":"2023-11-14T22:13:20.000Z"}"#
    );
}

#[test]
fn empty_values_can_be_left_out_but_empty_details_stay() {
    let mut setup = Setup::new(&[]);
    let mut line = log(&[
        ("host", "%UPSTREAM_HOST%"),
        ("details", "%RESPONSE_CODE_DETAILS%"),
    ]);
    line.omit_empty_values = true;
    setup.http().access_log = vec![line];
    setup.http().virtual_hosts[0].routes.clear();
    let mut stage = setup.start();
    stage.get(1);
    assert_eq!(stage.last_log(), r#"{"details":"route_not_found"}"#);
}

#[test]
fn each_attempt_has_its_line_before_the_requests() {
    let mut setup = Setup::new(&[]).retry("5xx,connect-failure", 2);
    let fields = [
        ("host", "%UPSTREAM_HOST%"),
        ("code", "%RESPONSE_CODE%"),
        ("flags", "%RESPONSE_FLAGS%"),
        ("failure", "%UPSTREAM_TRANSPORT_FAILURE_REASON%"),
        ("attempts", "%UPSTREAM_REQUEST_ATTEMPT_COUNT%"),
        ("stream", "%STREAM_ID%"),
    ];
    setup.http().router.upstream_log = vec![log(&fields)];
    setup.http().access_log = vec![log(&fields[..5])];
    let mut stage = setup.start();
    stage.get(1);
    stage.answer(503, &[], true);
    stage.wait(25);
    stage.reset(ResetReason::ConnectFailure(
        "delayed connect error: Connection refused".to_owned(),
    ));
    stage.wait(100);
    stage.answer(200, &[], true);
    assert_eq!(
        stage.log_lines(),
        [
            r#"{"attempts":0,"code":503,"failure":null,"flags":"-","host":"127.0.0.1:1","stream":null}"#,
            r#"{"attempts":0,"code":0,"failure":"delayed_connect_error:_Connection_refused","flags":"UF","host":"127.0.0.1:2","stream":null}"#,
            r#"{"attempts":0,"code":200,"failure":null,"flags":"-","host":"127.0.0.1:3","stream":null}"#,
            r#"{"attempts":3,"code":200,"failure":null,"flags":"-","host":"127.0.0.1:3"}"#,
        ]
    );
}

#[test]
fn an_attempt_that_timed_out_says_so_in_its_own_line() {
    let mut setup = Setup::new(&[]).retry("5xx", 1);
    setup.forward().retry.per_try_timeout = Some(std::time::Duration::from_millis(100));
    setup.http().router.upstream_log = vec![log(&[
        ("code", "%RESPONSE_CODE%"),
        ("flags", "%RESPONSE_FLAGS%"),
    ])];
    let mut stage = setup.start();
    stage.get(1);
    stage.connect();
    stage.wait(100);
    assert_eq!(stage.last_log(), r#"{"code":0,"flags":"UT"}"#);
}

#[test]
fn an_attempts_line_counts_only_what_its_filters_let_through() {
    let holds = guest(|_, call| {
        matches!(
            call,
            Call::ResponseHeaders { .. } | Call::ResponseBody { .. }
        )
        .then_some(crate::stage::PAUSE)
    });
    let mut setup = Setup::new(&[]).attempt("workers", "attempt", holds);
    setup.forward().timeout = Some(std::time::Duration::from_secs(1));
    setup.http().router.upstream_log = vec![log(&[
        ("code", "%RESPONSE_CODE%"),
        ("rx", "%BYTES_RECEIVED%"),
    ])];
    let mut stage = setup.start();
    stage.get(1);
    stage.answer(200, &[], false);
    stage.answer_data("held", false);
    stage.wait(1000);
    assert_eq!(stage.log_lines()[0], r#"{"code":0,"rx":0}"#);
}
