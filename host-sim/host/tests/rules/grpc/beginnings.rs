//! How calls and streams begin, and what becomes of those that cannot.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_sim_host::abi::{Answer, Call, Refusal};

use super::{Told, call, line, setup, stage, target};
use crate::stage::{guest, value};

/// envoy_grpc { cluster_name: "absent" }
const ABSENT: &[u8] = b"\x0a\x08\x0a\x06absent";

fn shown(answer: Answer<u32>) -> String {
    match answer {
        Ok(token) => token.to_string(),
        Err(Refusal::Tell(status)) => format!("{status:?}"),
        Err(Refusal::Stop(_)) => "stopped".to_owned(),
    }
}

#[test]
fn a_call_is_a_post_with_one_message() {
    let told = Told::default();
    let mut stage = stage(&told, |host, _| {
        call(host, b"side").unwrap();
    });
    stage.connect();
    let (head, body, end) = stage.sent_upstream();
    let head = head.unwrap();
    for (name, expected) in [
        (":method", "POST"),
        (":path", "/test.Echo/Unary"),
        (":authority", "side"),
        (":scheme", "http"),
        ("te", "trailers"),
        ("grpc-timeout", "500m"),
        ("content-type", "application/grpc"),
        ("x-mine", "1"),
        ("x-envoy-internal", "true"),
        ("x-envoy-expected-rq-timeout-ms", "500"),
    ] {
        assert_eq!(value(&head, name), Some(expected), "{name}");
    }
    assert_eq!(head.len(), 10);
    assert_eq!(body, "\0\0\0\0\x05hello");
    assert!(end);
}

#[test]
fn a_stream_has_no_time_and_sends_message_by_message() {
    let told = Told::default();
    let mut stage = stage(&told, |host, _| {
        let token = host.grpc_stream(target(b"side")).unwrap();
        host.grpc_send(token, b"a", false).unwrap();
        host.grpc_send(token, b"", true).unwrap();
        host.grpc_send(token, b"too late", true).unwrap();
    });
    stage.connect();
    let (head, body, end) = stage.sent_upstream();
    assert_eq!(value(&head.unwrap(), "grpc-timeout"), None);
    assert_eq!(body, "\0\0\0\0\x01a\0\0\0\0\0");
    assert!(end);
}

#[test]
fn a_call_without_a_time_tells_the_worker_of_none() {
    let told = Told::default();
    let mut stage = stage(&told, |host, _| {
        host.grpc_call(b"hello", Duration::ZERO, target(b"side"))
            .unwrap();
    });
    stage.connect();
    let head = stage.sent_upstream().0.unwrap();
    assert_eq!(value(&head, "grpc-timeout"), Some("0m"));
    assert_eq!(value(&head, "x-envoy-expected-rq-timeout-ms"), None);
    stage.wait(1_000_000);
    assert!(told.take().is_empty());
}

#[test]
fn what_is_neither_a_service_nor_a_cluster_uses_no_token() {
    let told = Told::default();
    let _ = stage(&told, |host, told| {
        told.add(shown(call(host, b"nobody")));
        told.add(shown(host.grpc_stream(target(b"nobody"))));
        told.add(shown(call(host, b"side")));
        told.add(shown(call(host, b"side")));
        told.add(shown(host.grpc_stream(target(b"side"))));
    });
    assert_eq!(told.take(), ["ParseFailure", "ParseFailure", "5", "9", "6"]);
}

#[test]
fn a_service_without_a_target_stops_the_guest_where_envoy_ends() {
    let told = Told::default();
    let _ = stage(&told, |host, told| {
        told.add(shown(call(host, b"")));
        told.add(shown(call(host, b"exact")));
    });
    assert_eq!(told.take(), ["stopped", "stopped"]);
}

#[test]
fn a_call_that_fails_at_once_has_an_end_all_the_same() {
    for (service, end) in [
        (
            &b"nohosts"[..],
            "close 5 14 no healthy upstream{no_healthy_upstream}",
        ),
        (ABSENT, "close 5 14 Cluster not available"),
    ] {
        let told = Told::default();
        let _ = stage(&told, move |host, told| {
            told.add(shown(call(host, service)));
            told.add(shown(host.grpc_cancel(5).map(|()| 0)));
        });
        assert_eq!(told.take(), ["InternalFailure", "NotFound", end]);
    }
}

/// A guest whose stream fails at once, with another call that has an end to be told if `busy`.
fn fails_at_once(told: &Told, busy: bool) -> Answer<()> {
    let (lines, result) = (told.clone(), Arc::new(Mutex::new(Ok(()))));
    let last = Arc::clone(&result);
    let script = guest(move |host, event| {
        if let Some(line) = line(host, event) {
            lines.add(line);
        }
        if matches!(event, Call::RequestHeaders { .. }) {
            if busy {
                lines.add(shown(call(host, b"nohosts")));
            }
            let answer = host.grpc_stream(target(b"nohosts"));
            while let Some(nested) = host.next_nested() {
                lines.add(line(host, &nested).unwrap());
                let done = host.nested_done();
                if done.is_err() {
                    *last.lock().unwrap() = done;
                    return None;
                }
            }
            lines.add(shown(answer));
        }
        None
    });
    let setup = setup(told, |_, _| {}).replace("asks", script);
    setup.start().get(1);
    result.lock().unwrap().clone()
}

#[test]
fn a_stream_that_fails_at_once_is_told_inside_of_its_own_call() {
    let told = Told::default();
    fails_at_once(&told, false).unwrap();
    assert_eq!(
        told.take(),
        [
            "initial 0 ",
            "trailing 4 :status,content-type,grpc-status,grpc-message",
            "InternalFailure",
            "close 6 14 no healthy upstream{no_healthy_upstream}",
        ]
    );
}

#[test]
fn telling_it_while_another_end_waits_hangs_envoy_and_stops_the_guest() {
    let told = Told::default();
    let result = fails_at_once(&told, true);
    assert!(matches!(result, Err(Refusal::Stop(_))));
    assert_eq!(told.take()[..2], ["InternalFailure", "initial 0 "]);
}

#[test]
fn what_only_envoy_may_set_is_a_bad_argument_and_uses_a_token() {
    // envoy_grpc { cluster_name: "side" } initial_metadata { key: ":path" value: "/" }
    const SERVICE: &[u8] = b"\x0a\x06\x0a\x04side\x2a\x0a\x0a\x05:path\x12\x01/";
    let told = Told::default();
    let _ = stage(&told, |host, told| {
        told.add(shown(call(host, SERVICE)));
        told.add(shown(call(host, b"side")));
    });
    assert_eq!(told.take(), ["BadArgument", "9"]);
}

#[test]
fn a_cluster_has_so_many_requests() {
    let told = Told::default();
    let mut setup = setup(&told, |host, told| {
        host.grpc_stream(target(b"side")).unwrap();
        told.add(shown(call(host, b"side")));
    });
    setup.config.clusters.get_mut("side").unwrap().max_requests = 1;
    setup.start().get(1);
    let overflow = "upstream connect error or disconnect/reset before headers. reset reason: overflow\
                    {upstream_reset_before_response_started{overflow}}";
    assert_eq!(
        told.take(),
        [
            "InternalFailure".to_owned(),
            format!("close 5 14 {overflow}")
        ]
    );
}
