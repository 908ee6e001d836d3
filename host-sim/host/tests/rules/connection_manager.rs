//! What happens before the first filter and after the last.

use crate::stage::{Setup, Stage, passes, value};

fn head_of(extra: &[(&str, &str)]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut stage = Setup::new(&[]).start();
    stage.request(1, extra, true);
    stage.connect();
    stage.sent_upstream().0.unwrap()
}

fn refused(extra: &[(&str, &str)]) -> (u16, String) {
    let mut stage: Stage = Setup::new(&[("a", passes())]).start();
    stage.request(1, extra, true);
    let journal = stage.journal();
    assert_eq!(journal, ["a log", "a done"], "{extra:?}");
    let log = stage.last_log();
    let details = log
        .split("\"details\":\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    (stage.response(1).status, details.to_owned())
}

#[test]
fn what_only_the_gateway_may_set_is_taken_from_clients() {
    let head = head_of(&[
        ("x-envoy-max-retries", "9"),
        ("x-envoy-upstream-rq-timeout-ms", "1"),
        ("x-envoy-original-path", "/x"),
        ("x-request-id", "mine"),
        ("connection", "keep-alive"),
        ("transfer-encoding", "chunked"),
        ("x-forwarded-for", "10.0.0.1"),
    ]);
    for gone in [
        "x-envoy-max-retries",
        "x-envoy-upstream-rq-timeout-ms",
        "x-envoy-original-path",
        "connection",
    ] {
        assert_eq!(value(&head, gone), None, "{gone}");
    }
    assert_eq!(value(&head, "transfer-encoding"), None);
    assert_ne!(value(&head, "x-request-id"), Some("mine"));
    assert_eq!(value(&head, "x-forwarded-for"), Some("10.0.0.1,127.0.0.1"));
    assert_eq!(value(&head, "x-forwarded-proto"), Some("http"));
}

#[test]
fn behind_another_proxy_the_request_id_is_kept() {
    let mut setup = Setup::new(&[]);
    setup.http().use_remote_address = false;
    setup.http().always_set_request_id_in_response = true;
    let mut stage = setup.start();
    stage.request(1, &[("x-request-id", "mine")], true);
    stage.answer(200, &[], true);
    assert_eq!(
        value(&stage.response(1).headers, "x-request-id"),
        Some("mine")
    );
}

#[test]
fn the_path_is_put_in_order_and_the_query_left_alone() {
    let head = head_of(&[(":path", "//a/./b/../c?d=../e//f")]);
    assert_eq!(value(&head, ":path"), Some("/a/c?d=../e//f"));
}

#[test]
fn what_envoy_refuses_reaches_no_filter() {
    for (extra, status, details) in [
        ([(":path", "/a%2Fb")], 400, "path_normalization_failed"),
        ([(":path", "/a#b")], 400, "path_normalization_failed"),
        ([("x-no-host", "1")], 400, "missing_host_header"),
        ([("x_y", "1")], 400, "http1.unexpected_underscore"),
        ([(":path", "a")], 400, "http1.codec_error"),
        ([(":path", "*")], 404, "absolute_path_rejected"),
    ] {
        assert_eq!(refused(&extra), (status, details.to_owned()), "{extra:?}");
    }
}

#[test]
fn responses_carry_server_and_date_and_no_hop_headers() {
    let mut stage = Setup::new(&[]).start();
    stage.get(1);
    stage.answer(
        200,
        &[
            ("server", "theirs"),
            ("connection", "close"),
            ("transfer-encoding", "chunked"),
        ],
        true,
    );
    let headers = stage.response(1).headers;
    assert_eq!(value(&headers, "server"), Some("envoy"));
    assert_eq!(
        value(&headers, "date"),
        Some("Tue, 14 Nov 2023 22:13:20 GMT")
    );
    assert_eq!(
        (
            value(&headers, "connection"),
            value(&headers, "transfer-encoding")
        ),
        (None, None)
    );
    assert_eq!(value(&headers, "x-envoy-upstream-service-time"), None);
}

#[test]
fn without_suppression_the_router_adds_its_own_headers() {
    let mut setup = Setup::new(&[]);
    setup.http().router.suppress_envoy_headers = false;
    setup.forward().timeout = Some(std::time::Duration::from_secs(5));
    let mut stage = setup.start();
    stage.get(1);
    stage.answer(200, &[], true);
    assert_eq!(
        value(
            &stage.sent_upstream().0.unwrap(),
            "x-envoy-expected-rq-timeout-ms"
        ),
        Some("5000")
    );
    assert_eq!(
        value(&stage.response(1).headers, "x-envoy-upstream-service-time"),
        Some("0")
    );
}

#[test]
fn an_answer_before_the_end_of_the_request_closes_the_connection() {
    let mut stage = Setup::new(&[]).start();
    stage.request(1, &[], false);
    stage.answer(200, &[], true);
    assert_eq!(
        value(&stage.response(1).headers, "connection"),
        Some("close")
    );
}

#[test]
fn equal_seeds_give_equal_runs() {
    let run = || {
        let mut stage = Setup::new(&[("a", passes())]).retry("5xx", 3).start();
        for id in 1..5 {
            stage.get(id);
            stage.answer(503, &[], true);
            stage.wait(7);
        }
        stage.wait(1000);
        stage.commands
    };
    assert_eq!(run(), run());
}
