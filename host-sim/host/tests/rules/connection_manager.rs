//! What happens before the first filter and after the last.

use host_sim_host::abi::{Call, LocalResponse, MapKind};

use crate::stage::{Setup, Stage, guest, log, passes, value};

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
fn a_path_has_one_spelling() {
    let head = head_of(&[(":path", "/%63hat/%7e|?%63")]);
    assert_eq!(value(&head, ":path"), Some("/chat/~%7C?%63"));
}

#[test]
fn several_lines_of_a_header_are_one_before_the_first_filter() {
    let script = guest(|host, call| {
        if let Call::RequestHeaders { .. } = call {
            let key = host.get_header_map_value(MapKind::RequestHeaders, b"authorization");
            assert_eq!(key.unwrap(), b"Bearer a,Bearer b");
            for name in [&b"accept"[..], b"x-two"] {
                for value in [b"1", b"2"] {
                    let added = host.add_header_map_value(MapKind::RequestHeaders, name, value);
                    added.unwrap();
                }
            }
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)]).start();
    let lines = [
        ("authorization", "Bearer a"),
        ("authorization", "Bearer b"),
        ("te", "trailers, gzip"),
        ("x-api-key", "1"),
        ("x-api-key", "2"),
    ];
    stage.request(1, &lines, true);
    stage.connect();
    let head = stage.sent_upstream().0.unwrap();
    let values = |wanted: &str| -> Vec<_> {
        let lines = head.iter().filter(|(name, _)| name == wanted.as_bytes());
        lines.map(|(_, value)| value.as_slice()).collect()
    };
    assert_eq!(values("authorization"), [b"Bearer a,Bearer b"]);
    assert_eq!(values("x-api-key"), [b"1", b"2"]);
    assert_eq!(values("accept"), [b"1,2"]);
    assert_eq!(values("x-two"), [b"1", b"2"]);
    assert_eq!(values("te"), [b"trailers"]);
}

#[test]
fn several_lines_of_a_header_of_a_response_are_one_too() {
    let mut stage = Setup::new(&[]).start();
    stage.get(1);
    let lines = [
        ("vary", "a"),
        ("set-cookie", "a"),
        ("vary", "b"),
        ("set-cookie", "b"),
    ];
    stage.answer(200, &lines, true);
    let headers = stage.response(1).headers;
    assert_eq!(value(&headers, "vary"), Some("a,b"));
    assert_eq!(
        headers
            .iter()
            .filter(|(name, _)| name == b"set-cookie")
            .count(),
        2
    );
}

#[test]
fn the_date_of_a_worker_is_kept() {
    let mut stage = Setup::new(&[]).start();
    stage.get(1);
    stage.answer(200, &[("date", "yesterday")], true);
    let headers = stage.response(1).headers;
    let dates: Vec<_> = headers.iter().filter(|(name, _)| name == b"date").collect();
    assert_eq!(dates, [&(b"date".to_vec(), b"yesterday".to_vec())]);
}

#[test]
fn the_log_names_the_cluster_of_the_route_when_a_filter_answers() {
    let script = guest(|host, call| {
        matches!(call, Call::RequestHeaders { .. }).then(|| {
            let response = LocalResponse {
                grpc_status: None,
                status: 401,
                details: Vec::new(),
                body: Vec::new(),
                headers: Vec::new(),
            };
            host.send_local_response(response).unwrap();
            0
        })
    });
    let mut setup = Setup::new(&[("a", script)]);
    setup.http().access_log = vec![log(&[("cluster", "%UPSTREAM_CLUSTER%")])];
    let mut stage = setup.start();
    stage.get(1);
    assert_eq!(stage.last_log(), r#"{"cluster":"workers"}"#);
}

#[test]
fn what_envoy_refuses_reaches_no_filter() {
    for (extra, status, details) in [
        ([(":path", "/a%2Fb")], 400, "path_normalization_failed"),
        ([(":path", "/a#b")], 400, "path_normalization_failed"),
        ([("x-no-host", "1")], 400, "missing_host_header"),
        ([("x_y", "1")], 400, "http1.unexpected_underscore"),
        ([(":path", "a")], 400, "http1.codec_error"),
        ([(":path", "/a%00")], 400, "path_normalization_failed"),
        ([(":path", "*")], 404, "absolute_path_rejected"),
        ([(":path", "http://h?q")], 404, "absolute_path_rejected"),
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
            ("upgrade", "h2"),
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
            value(&headers, "transfer-encoding"),
            value(&headers, "upgrade")
        ),
        (None, None, None)
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
