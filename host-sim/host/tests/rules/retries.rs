//! Failed attempts, as filters and clients see them (envoy-lab.md 4 and 23).

use std::sync::{Arc, Mutex};

use host_sim_host::abi::{Call, HostCalls, MapKind};
use host_sim_host::io::{Command, ResetReason};

use crate::stage::{Script, Setup, guest, value};

fn refused() -> ResetReason {
    ResetReason::ConnectFailure("delayed connect error: Connection refused".to_owned())
}

fn number(host: &mut dyn HostCalls, path: &str) -> Option<u64> {
    let bytes = host.get_property(path.replace('.', "\0").as_bytes()).ok()?;
    Some(u64::from_le_bytes(bytes.try_into().unwrap()))
}

fn words(host: &mut dyn HostCalls, path: &str) -> Option<String> {
    host.get_property(path.replace('.', "\0").as_bytes())
        .ok()
        .map(|bytes| String::from_utf8(bytes).unwrap())
}

type Seen = Arc<Mutex<Vec<(Option<String>, u64, Option<u64>, Option<String>)>>>;

/// Notes details, flags, code and failure reason in `on_done`.
fn notes(seen: &Seen) -> Script {
    let seen = Arc::clone(seen);
    guest(move |host, call| {
        if let Call::Done { .. } = call {
            let note = (
                words(host, "response.code_details"),
                number(host, "response.flags").unwrap(),
                number(host, "response.code"),
                words(host, "upstream.transport_failure_reason"),
            );
            seen.lock().unwrap().push(note);
        }
        None
    })
}

#[test]
fn a_reset_looks_like_nothing_to_the_attempts_filter() {
    let seen = Seen::default();
    let mut stage = Setup::new(&[])
        .attempt("workers", "attempt", notes(&seen))
        .retry("reset", 2)
        .start();
    stage.get(1);
    stage.connect();
    stage.reset(ResetReason::ConnectionTermination);
    assert_eq!(
        *seen.lock().unwrap(),
        [(None, 0, None, Some(String::new()))]
    );
    stage.wait(25);
    assert_eq!(stage.tried(), [1, 2]);
}

#[test]
fn a_refused_connection_has_a_reason_of_its_own_attempt() {
    let seen = Seen::default();
    let mut stage = Setup::new(&[])
        .attempt("workers", "attempt", notes(&seen))
        .retry("connect-failure", 2)
        .start();
    stage.get(1);
    stage.reset(refused());
    stage.wait(25);
    stage.answer(200, &[], true);
    let reason = Some("delayed connect error: Connection refused".to_owned());
    let via = Some("via_upstream".to_owned());
    assert_eq!(
        *seen.lock().unwrap(),
        [
            (None, 0, None, reason),
            (via, 0, Some(200), Some(String::new()))
        ]
    );
    assert_eq!(stage.response(1).status, 200);
}

#[test]
fn an_answered_attempt_leaves_its_details_to_the_next() {
    let seen = Seen::default();
    let mut stage = Setup::new(&[])
        .attempt("workers", "attempt", notes(&seen))
        .retry("5xx", 1)
        .start();
    stage.get(1);
    stage.answer(503, &[], true);
    stage.wait(25);
    stage.connect();
    stage.reset(ResetReason::ConnectionTermination);
    let via = Some("via_upstream".to_owned());
    // The last failing attempt has URX already.
    assert_eq!(
        *seen.lock().unwrap(),
        [
            (via.clone(), 0, None, Some(String::new())),
            (via, 0x8000, None, Some(String::new()))
        ]
    );
}

#[test]
fn the_last_answer_of_a_worker_goes_to_the_client() {
    let mut stage = Setup::new(&[]).retry("retriable-status-codes", 1).start();
    stage.request(1, &[], true);
    stage.answer(429, &[("retry-after", "7")], false);
    stage.answer_data("slow down", true);
    let response = stage.response(1);
    assert_eq!(
        (response.status, response.body.as_str()),
        (429, "slow down")
    );
    assert_eq!(value(&response.headers, "retry-after"), Some("7"));
    assert_eq!(
        stage.last_log(),
        r#"{"code":429,"details":"via_upstream","flags":"-"}"#
    );
}

#[test]
fn resets_to_the_end_are_said_in_envoys_words() {
    let mut stage = Setup::new(&[]).retry("reset", 1).start();
    stage.get(1);
    for _ in 0..2 {
        stage.connect();
        stage.reset(ResetReason::ConnectionTermination);
        stage.wait(25);
    }
    let response = stage.response(1);
    assert_eq!(response.status, 503);
    assert_eq!(
        response.body,
        "upstream connect error or disconnect/reset before headers. retried and the latest reset reason: connection \
         termination"
    );
    let details = "upstream_reset_before_response_started{connection_termination}";
    assert_eq!(
        stage.last_log(),
        format!(r#"{{"code":503,"details":"{details}","flags":"URX,UC"}}"#)
    );
}

#[test]
fn nothing_is_retried_after_the_head_has_left() {
    let seen = Seen::default();
    let mut stage = Setup::new(&[])
        .attempt("workers", "attempt", notes(&seen))
        .retry("5xx,reset", 3)
        .start();
    stage.get(1);
    stage.answer(200, &[], false);
    stage.answer_data("part", false);
    stage.reset(ResetReason::ProtocolError);
    let response = stage.response(1);
    assert_eq!(
        (response.status, response.body.as_str(), response.broken),
        (200, "part", true)
    );
    let (details, flags, ..) = seen.lock().unwrap()[0].clone();
    assert_eq!((details.as_deref(), flags), (Some("via_upstream"), 0));
    let details = "upstream_reset_after_response_started{protocol_error}";
    assert_eq!(
        stage.last_log(),
        format!(r#"{{"code":200,"details":"{details}","flags":"UPE"}}"#)
    );
    stage.wait(1000);
    assert_eq!(stage.tried(), [1]);
}

#[test]
fn a_filter_sets_the_retries_with_headers_that_no_worker_sees() {
    let script = guest(|host, call| {
        if let Call::RequestHeaders { .. } = call {
            for (name, value) in [
                ("x-envoy-retry-on", "retriable-status-codes"),
                ("x-envoy-retriable-status-codes", "429"),
                ("x-envoy-max-retries", "2"),
            ] {
                let (name, value) = (name.as_bytes(), value.as_bytes());
                host.replace_header_map_value(MapKind::RequestHeaders, name, value)
                    .unwrap();
            }
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)]).start();
    stage.request(1, &[("x-envoy-max-retries", "9")], true);
    for _ in 0..3 {
        stage.answer(429, &[], true);
        let head = stage.sent_upstream().0.unwrap();
        assert!(
            head.iter()
                .all(|(name, _)| !name.starts_with(b"x-envoy-retr")),
            "{head:?}"
        );
        assert_eq!(value(&head, "x-envoy-max-retries"), None);
        stage.wait(1000);
    }
    assert_eq!(stage.tried(), [1, 2, 3]);
    assert_eq!(stage.response(1).status, 429);
}

#[test]
fn retries_over_the_clusters_bound_give_the_first_answer() {
    let mut setup = Setup::new(&[]).retry("5xx", 1);
    setup
        .config
        .clusters
        .get_mut("workers")
        .unwrap()
        .max_retries = 1;
    let mut stage = setup.start();
    for id in [1, 2] {
        stage.get(id);
        stage.answer(503, &[], true);
    }
    assert_eq!(stage.response(2).status, 503);
    assert_eq!(
        stage.last_log(),
        r#"{"code":503,"details":"via_upstream","flags":"UO"}"#
    );
    stage.wait(25);
    assert_eq!(stage.tried().len(), 3);
}

#[test]
fn a_retry_stops_counting_when_its_head_has_come() {
    let mut setup = Setup::new(&[]).retry("5xx", 1);
    setup
        .config
        .clusters
        .get_mut("workers")
        .unwrap()
        .max_retries = 1;
    let mut stage = setup.start();
    for id in [1, 2] {
        stage.get(id);
        stage.answer(503, &[], true);
        stage.wait(25);
        stage.answer(200, &[], false);
    }
    assert_eq!(stage.response(2).status, 200);
}

#[test]
fn requests_over_the_clusters_bound_overflow() {
    let mut setup = Setup::new(&[]).retry("5xx,reset", 3);
    setup
        .config
        .clusters
        .get_mut("workers")
        .unwrap()
        .max_requests = 1;
    let mut stage = setup.start();
    stage.get(1);
    stage.get(2);
    let details = "upstream_reset_before_response_started{overflow}";
    assert_eq!(
        stage.last_log(),
        format!(r#"{{"code":503,"details":"{details}","flags":"UO"}}"#)
    );
    stage.answer(200, &[], true);
    stage.get(3);
    assert_eq!(stage.tried().len(), 2);
}

#[test]
fn a_discarded_answer_is_cancelled_and_its_later_pieces_mean_nothing() {
    let mut stage = Setup::new(&[]).retry("5xx", 1).start();
    stage.get(1);
    stage.answer(503, &[], false);
    let first = stage.latest();
    assert!(
        stage
            .commands
            .contains(&Command::CancelUpstream { upstream: first })
    );
    stage.wait(25);
    stage.answer(200, &[], false);
    stage.answer_data("good", true);
    assert_eq!(stage.response(1).body, "good");
}

#[test]
fn a_filter_of_the_attempt_can_turn_an_answer_into_a_retry() {
    let script = guest(|host, call| {
        if let Call::ResponseHeaders { .. } = call {
            let status = host
                .get_header_map_value(MapKind::ResponseHeaders, b":status")
                .unwrap();
            if status == b"200" && number(host, "upstream.request_attempt_count") == Some(1) {
                host.replace_header_map_value(MapKind::ResponseHeaders, b":status", b"502")
                    .unwrap();
            }
        }
        None
    });
    let mut stage = Setup::new(&[])
        .attempt("workers", "attempt", script)
        .retry("gateway-error", 1)
        .start();
    stage.get(1);
    stage.answer(200, &[], false);
    stage.wait(25);
    stage.answer(200, &[], true);
    assert_eq!(stage.tried(), [1, 2]);
    assert_eq!(stage.response(1).status, 200);
}
