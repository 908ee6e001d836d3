//! What ends a client's connection, and requests that cannot be read to their end.

use host_sim_host::abi::{Call, LocalResponse};
use host_sim_host::config::{LocalReplyMapper, ReplyFilter, RouteAction};
use host_sim_host::io::Command;

use crate::stage::{PAUSE, Script, Setup, Stage, guest, log, passes, value};

fn refuses(status: u32) -> Script {
    guest(move |host, call| {
        matches!(call, Call::RequestHeaders { .. }).then(|| {
            host.send_local_response(LocalResponse {
                grpc_status: None,
                status,
                details: Vec::new(),
                body: Vec::new(),
                headers: Vec::new(),
            })
            .unwrap();
            0
        })
    })
}

fn closes(stage: &Stage, id: u64) -> bool {
    value(&stage.response(id).headers, "connection") == Some("close")
}

#[test]
fn a_400_of_a_filter_ends_the_connection_of_a_complete_request_and_no_other_status_does() {
    for status in [400, 401, 404, 422, 500] {
        let mut stage = Setup::new(&[("a", refuses(status))]).start();
        stage.get(1);
        assert_eq!(closes(&stage, 1), status == 400, "{status}");
    }
}

#[test]
fn a_400_that_is_sent_as_another_status_ends_the_connection_too() {
    let mut setup = Setup::new(&[]);
    setup.http().virtual_hosts[0].routes[0].action = RouteAction::Direct {
        status: 400,
        body: String::new(),
    };
    setup.http().local_reply_mappers.push(LocalReplyMapper {
        filter: ReplyFilter::HasDetails,
        status_code: Some(422),
        body: None,
        headers_to_add: Vec::new(),
    });
    let mut stage = setup.start();
    stage.get(1);
    assert_eq!(stage.response(1).status, 422);
    assert!(closes(&stage, 1));
}

#[test]
fn a_400_of_a_worker_leaves_the_connection_open() {
    let mut stage = Setup::new(&[]).start();
    stage.get(1);
    stage.answer(400, &[], true);
    assert!(!closes(&stage, 1));
}

#[test]
fn a_body_that_becomes_unreadable_is_answered_through_the_filters() {
    let mut stage = Setup::new(&[("a", passes())]).start();
    stage.request(1, &[], false);
    stage.connect();
    stage.journal();
    stage.garble(1);
    let response = stage.response(1);
    assert_eq!(
        (response.status, response.body.as_str(), response.complete),
        (400, "Bad Request", true)
    );
    assert!(closes(&stage, 1));
    assert_eq!(
        stage.journal(),
        [
            "a response_headers",
            "a response_body 11 end",
            "a log",
            "a done"
        ]
    );
    assert_eq!(
        stage.last_log(),
        r#"{"code":400,"details":"http1.codec_error","flags":"DPE"}"#
    );
    assert!(stage.commands.contains(&Command::CancelUpstream {
        upstream: stage.latest()
    }));
}

#[test]
fn a_body_that_becomes_unreadable_after_the_head_of_the_response_breaks_it_off() {
    let mut stage = Setup::new(&[("a", passes())]).start();
    stage.request(1, &[], false);
    stage.answer(200, &[], false);
    stage.garble(1);
    let response = stage.response(1);
    assert_eq!((response.status, response.broken), (200, true));
    assert_eq!(
        stage.last_log(),
        r#"{"code":200,"details":"http1.codec_error","flags":"DPE"}"#
    );
}

#[test]
fn an_unreadable_request_ends_even_when_a_filter_holds_its_answer() {
    let holds = guest(|_, call| {
        let answers = matches!(
            call,
            Call::ResponseHeaders { .. } | Call::ResponseBody { .. }
        );
        answers.then_some(PAUSE)
    });
    let mut stage = Setup::new(&[("a", holds)]).start();
    stage.request(1, &[], false);
    stage.garble(1);
    assert!(stage.response(1).broken);
    assert_eq!(stage.log_lines().len(), 1);
    stage.garble(1);
    assert_eq!(stage.log_lines().len(), 1, "once is enough");
}

#[test]
fn a_request_for_another_protocol_is_403_before_any_filter() {
    let mut setup = Setup::new(&[("a", passes())]);
    setup.http().access_log = vec![log(&[
        ("cluster", "%UPSTREAM_CLUSTER%"),
        ("details", "%RESPONSE_CODE_DETAILS%"),
        ("flags", "%RESPONSE_FLAGS%"),
    ])];
    let mut stage = setup.start();
    let asks = [("connection", "Upgrade, x"), ("upgrade", "websocket")];
    stage.request(1, &asks, false);
    let response = stage.response(1);
    assert_eq!((response.status, response.body.as_str()), (403, ""));
    assert!(closes(&stage, 1));
    assert_eq!(stage.journal(), ["a log", "a done"]);
    assert_eq!(
        stage.last_log(),
        r#"{"cluster":"workers","details":"upgrade_failed","flags":"-"}"#
    );
    for other in [
        [("connection", "upgrade"), ("upgrade", "h2c")],
        [("connection", "close"), ("upgrade", "websocket")],
    ] {
        let mut stage = Setup::new(&[]).start();
        stage.request(1, &other, true);
        assert_eq!(stage.tried(), [1], "{other:?}");
    }
}

#[test]
fn a_connect_passes_the_filters_and_finds_no_route() {
    let mut stage = Setup::new(&[("a", passes())]).start();
    stage.request(1, &[(":method", "CONNECT")], false);
    assert_eq!(stage.response(1).status, 404);
    assert!(closes(&stage, 1));
    assert_eq!(stage.journal()[0], "a request_headers");
    assert_eq!(
        stage.last_log(),
        r#"{"code":404,"details":"route_not_found","flags":"NR"}"#
    );
}
