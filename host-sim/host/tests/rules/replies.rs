//! Answers that no worker gives (envoy-lab.md 11).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_sim_host::abi::{Call, HostCalls, LocalResponse, StreamKind};
use host_sim_host::config::{JsonFormat, LocalReplyMapper, ReplyFilter, RouteAction};

use crate::stage::{PAUSE, Script, Setup, guest, lines, passes, text, value};

fn reply(status: u32, body: &str) -> LocalResponse {
    LocalResponse {
        grpc_status: None,
        status,
        details: Vec::new(),
        body: body.as_bytes().to_vec(),
        headers: lines(&[("x-reason", "mine")]),
    }
}

fn refuses() -> Script {
    guest(|host, call| {
        matches!(call, Call::RequestHeaders { .. }).then(|| {
            host.send_local_response(reply(401, "no")).unwrap();
            0
        })
    })
}

#[test]
fn a_filters_answer_runs_back_through_the_filters_that_saw_the_request() {
    let mut stage = Setup::new(&[("a", passes()), ("b", refuses()), ("c", passes())]).start();
    stage.get(1);
    let response = stage.response(1);
    assert_eq!(
        (response.status, response.body.as_str(), response.complete),
        (401, "no", true)
    );
    assert_eq!(value(&response.headers, "x-reason"), Some("mine"));
    assert_eq!(value(&response.headers, "content-type"), Some("text/plain"));
    assert_eq!(stage.tried(), []);
    assert_eq!(
        stage.journal(),
        [
            "a request_headers",
            "b request_headers",
            "b response_headers",
            "a response_headers",
            "b response_body 2 end",
            "a response_body 2 end",
            "a log",
            "b log",
            "c log",
            "a done",
            "b done",
            "c done",
        ]
    );
    assert_eq!(stage.last_log(), r#"{"code":401,"details":"","flags":"-"}"#);
}

#[test]
fn a_request_without_a_route_is_404_through_all_filters() {
    let mut setup = Setup::new(&[("a", passes()), ("b", passes())]);
    setup.http().virtual_hosts[0].routes.clear();
    let mut stage = setup.start();
    stage.get(1);
    let response = stage.response(1);
    assert_eq!((response.status, response.body.as_str()), (404, ""));
    assert_eq!(
        stage.journal(),
        [
            "a request_headers",
            "b request_headers",
            "b response_headers",
            "a response_headers",
            "a log",
            "b log",
            "a done",
            "b done",
        ]
    );
    assert_eq!(
        stage.last_log(),
        r#"{"code":404,"details":"route_not_found","flags":"NR"}"#
    );
}

#[test]
fn a_direct_response_is_envoys_own() {
    let mut setup = Setup::new(&[]);
    setup.http().virtual_hosts[0].routes[0].action = RouteAction::Direct {
        status: 503,
        body: "later".to_owned(),
    };
    let mut stage = setup.start();
    stage.get(1);
    let response = stage.response(1);
    assert_eq!((response.status, response.body.as_str()), (503, "later"));
    assert_eq!(
        stage.last_log(),
        r#"{"code":503,"details":"direct_response","flags":"-"}"#
    );
}

#[test]
fn a_request_that_the_codec_refuses_is_only_logged() {
    let mut stage = Setup::new(&[("a", passes()), ("b", passes())]).start();
    stage.reject(1, 431, "http1.headers_too_large");
    let response = stage.response(1);
    assert_eq!(
        (response.status, response.body.as_str()),
        (431, "Request Header Fields Too Large")
    );
    assert_eq!(stage.journal(), ["a log", "b log", "a done", "b done"]);
}

#[test]
fn an_answer_while_a_head_is_held_goes_past_the_filters() {
    let script = guest(|host, call| match call {
        Call::ResponseHeaders { .. } => Some(PAUSE),
        Call::ResponseBody { .. } => {
            host.send_local_response(reply(502, "bad")).unwrap();
            Some(0)
        }
        _ => None,
    });
    let mut stage = Setup::new(&[("a", passes()), ("b", script)]).start();
    stage.get(1);
    stage.answer(200, &[], false);
    stage.journal();
    stage.answer_data("x", false);
    let response = stage.response(1);
    assert_eq!(
        (response.status, response.body.as_str(), response.complete),
        (502, "bad", true)
    );
    assert_eq!(
        stage.journal(),
        ["b response_body 1", "a log", "b log", "a done", "b done"]
    );
}

#[test]
fn an_answer_after_the_head_has_left_breaks_the_response_off() {
    let script = guest(|host, call| {
        matches!(call, Call::ResponseBody { .. }).then(|| {
            host.send_local_response(reply(502, "bad")).unwrap();
            0
        })
    });
    let mut stage = Setup::new(&[("a", script)]).start();
    stage.get(1);
    stage.answer(200, &[], false);
    stage.answer_data("x", false);
    let response = stage.response(1);
    assert_eq!(
        (response.status, response.body.as_str(), response.broken),
        (200, "", true)
    );
}

#[test]
fn an_answer_of_an_attempts_filter_is_final() {
    let mut stage = Setup::new(&[("a", passes())])
        .attempt("workers", "attempt", refuses())
        .retry("5xx", 2)
        .start();
    stage.get(1);
    assert_eq!(stage.response(1).status, 401);
    stage.wait(1000);
    assert_eq!(stage.tried(), [1]);
    let journal = stage.journal();
    assert!(
        journal.contains(&"a response_headers".to_owned()),
        "{journal:?}"
    );
    assert!(
        !journal.contains(&"attempt response_headers".to_owned()),
        "{journal:?}"
    );
    assert!(!journal.contains(&"attempt log".to_owned()), "{journal:?}");
    let at = |wanted: &str| journal.iter().position(|line| line == wanted);
    assert!(at("attempt done") < at("a log"), "{journal:?}");
}

#[test]
fn the_body_of_envoys_answers_is_replaced_and_that_of_filters_is_not() {
    let mapper = LocalReplyMapper {
        filter: ReplyFilter::HasDetails,
        status_code: Some(599),
        body: Some(JsonFormat::Object(vec![
            ("text".to_owned(), text("%LOCAL_REPLY_BODY%")),
            ("code".to_owned(), text("%RESPONSE_CODE%")),
        ])),
        headers_to_add: vec![("x-mapped".to_owned(), "1".to_owned())],
    };
    let script = guest(|host, call| match call {
        Call::RequestHeaders { .. }
            if host
                .get_header_map_value(host_sim_host::abi::MapKind::RequestHeaders, b"x-refuse")
                .is_ok() =>
        {
            host.send_local_response(reply(401, "no")).unwrap();
            Some(0)
        }
        _ => None,
    });
    let mut setup = Setup::new(&[("a", script)]);
    setup.http().local_reply_mappers.push(mapper);
    setup.http().virtual_hosts[0].routes[0].action = RouteAction::Direct {
        status: 503,
        body: "later".to_owned(),
    };
    let mut stage = setup.start();
    stage.get(1);
    let response = stage.response(1);
    assert_eq!(
        (response.status, response.body.trim()),
        (599, r#"{"code":599,"text":"later"}"#)
    );
    assert_eq!(
        value(&response.headers, "content-type"),
        Some("application/json")
    );
    assert_eq!(value(&response.headers, "x-mapped"), Some("1"));
    stage.request(2, &[("x-refuse", "1")], true);
    let response = stage.response(2);
    assert_eq!((response.status, response.body.as_str()), (401, "no"));
}

#[test]
fn an_attempt_under_way_ends_before_the_answer_and_knows_why() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seen_in = Arc::clone(&seen);
    let attempt = guest(move |host, call| {
        if let Call::Done { .. } = call {
            let read = |host: &mut dyn HostCalls, path: &[u8]| host.get_property(path).ok();
            *seen_in.lock().unwrap() = vec![
                read(host, b"response\0code_details"),
                read(host, b"response\0code"),
            ];
        }
        None
    });
    let mut setup = Setup::new(&[("a", passes())]).attempt("workers", "attempt", attempt);
    setup.forward().idle_timeout = Some(Duration::from_secs(1));
    let mut stage = setup.start();
    stage.get(1);
    stage.connect();
    stage.journal();
    stage.wait(1000);
    assert_eq!(stage.response(1).status, 504);
    assert_eq!(stage.journal()[..2], ["attempt done", "a response_headers"]);
    assert_eq!(
        *seen.lock().unwrap(),
        [Some(b"stream_idle_timeout".to_vec()), None]
    );
}

#[test]
fn a_reply_and_a_resume_in_one_callback_are_called_out() {
    let script = guest(|host, call| match call {
        Call::RequestHeaders { .. } => {
            host.set_tick_period_milliseconds(10).unwrap();
            Some(PAUSE)
        }
        Call::Tick { .. } => {
            host.set_effective_context(2).unwrap();
            host.send_local_response(reply(403, "no")).unwrap();
            host.continue_stream(StreamKind::Request).unwrap();
            host.set_tick_period_milliseconds(0).unwrap();
            None
        }
        _ => None,
    });
    let mut stage = Setup::new(&[("a", passes()), ("b", script)])
        .plugin(0, |plugin| plugin.vm.configuration = b"another VM".to_vec())
        .start();
    stage.request(1, &[], false);
    stage.wait(10);
    assert_eq!(stage.response(1).status, 403);
    assert_eq!(stage.tried(), []);
    assert!(stage.host_log_has("answered a request and went on"));
}
