//! Callouts (envoy-wasm-host.md 3, envoy-lab.md 22).

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_sim_host::abi::{
    BufferKind, Call, HostCalls, HttpCall, MapKind, Refusal, Status, StreamKind,
};
use host_sim_host::config::{FailurePolicy, LoadBalancing};
use host_sim_host::io::ResetReason;

use crate::stage::{PAUSE, Script, Setup, cluster, guest, lines, value};

fn call(cluster: &str) -> HttpCall {
    HttpCall {
        cluster: cluster.as_bytes().to_vec(),
        headers: lines(&[
            (":method", "POST"),
            (":path", "/check"),
            (":authority", "side"),
        ]),
        body: b"ask".to_vec(),
        timeout: Duration::from_millis(200),
    }
}

/// What a guest has been told, as text.
type Told = Arc<Mutex<Vec<String>>>;

fn tell(host: &mut dyn HostCalls, call: &Call, told: &Told) {
    if let Call::HttpCallResponse {
        token,
        headers,
        body_size,
        ..
    } = call
    {
        let status = host.get_header_map_value(MapKind::HttpCallResponseHeaders, b":status");
        let status = status.map(|status| String::from_utf8(status).unwrap());
        let body = host
            .get_buffer_bytes(BufferKind::HttpCallResponseBody, 0, *body_size)
            .unwrap_or_default();
        let body = String::from_utf8(body).unwrap();
        let line = match status {
            Ok(status) => format!("{token}: {status} {body}"),
            Err(refusal) => format!("{token}: {refusal:?} {headers} {}", host.get_status().0),
        };
        told.lock().unwrap().push(line);
    }
}

/// Asks in the head and waits in every callback; goes on when told.
fn asks(told: &Told) -> Script {
    let (told, context) = (Arc::clone(told), AtomicU32::new(0));
    guest(move |host, event| match event {
        Call::RequestHeaders { context: own, .. } => {
            context.store(*own, Ordering::Relaxed);
            match host.http_call(call("side")) {
                Ok(_) => Some(PAUSE),
                Err(refusal) => {
                    told.lock().unwrap().push(format!("{refusal:?}"));
                    None
                }
            }
        }
        Call::HttpCallResponse { .. } => {
            tell(host, event, &told);
            if host
                .set_effective_context(context.load(Ordering::Relaxed))
                .is_ok()
            {
                host.continue_stream(StreamKind::Request).unwrap();
            }
            None
        }
        _ => None,
    })
}

#[test]
fn a_request_waits_for_an_answer_and_goes_on() {
    let told = Told::default();
    let mut stage = Setup::new(&[("a", asks(&told))])
        .cluster(cluster("side", &[71]))
        .start();
    stage.get(1);
    assert_eq!(stage.tried(), [71]);
    stage.connect();
    let (head, body, end) = stage.sent_upstream();
    let head = head.unwrap();
    assert_eq!(
        (value(&head, ":path"), value(&head, "content-length")),
        (Some("/check"), Some("3"))
    );
    assert_eq!((body.as_str(), end), ("ask", true));
    stage.answer(200, &[], false);
    stage.answer_data("yes", true);
    assert_eq!(*told.lock().unwrap(), ["4: 200 yes"]);
    assert_eq!(stage.tried(), [71, 1]);
}

#[test]
fn a_timeout_is_an_ordinary_answer() {
    let told = Told::default();
    let mut stage = Setup::new(&[("a", asks(&told))])
        .cluster(cluster("side", &[71]))
        .start();
    stage.get(1);
    stage.connect();
    stage.wait(200);
    assert_eq!(*told.lock().unwrap(), ["4: 504 upstream request timeout"]);
}

#[test]
fn a_refused_connection_is_an_ordinary_answer() {
    let told = Told::default();
    let mut stage = Setup::new(&[("a", asks(&told))])
        .cluster(cluster("side", &[71]))
        .start();
    stage.get(1);
    stage.reset(ResetReason::ConnectFailure(
        "delayed connect error: Connection refused".to_owned(),
    ));
    assert!(
        told.lock().unwrap()[0].starts_with("4: 503 upstream connect error"),
        "{told:?}"
    );
}

#[test]
fn an_answer_that_breaks_off_has_no_headers() {
    let told = Told::default();
    let mut stage = Setup::new(&[("a", asks(&told))])
        .cluster(cluster("side", &[71]))
        .start();
    stage.get(1);
    stage.answer(200, &[], false);
    stage.reset(ResetReason::ConnectionTermination);
    assert_eq!(*told.lock().unwrap(), ["4: Tell(BadArgument) 0 11"]);
}

#[test]
fn without_a_host_the_call_fails_at_once_and_nobody_is_told() {
    let told = Told::default();
    let mut side = cluster("side", &[71]);
    side.load_balancing = LoadBalancing::None;
    let mut stage = Setup::new(&[("a", asks(&told))]).cluster(side).start();
    stage.get(1);
    stage.wait(1000);
    assert_eq!(*told.lock().unwrap(), ["Tell(InternalFailure)"]);
    assert_eq!(stage.tried(), [1]);
}

#[test]
fn an_unknown_cluster_or_a_head_without_a_path_is_a_bad_argument() {
    let script = guest(|host, event| {
        if let Call::RequestHeaders { .. } = event {
            let bad = Err(Refusal::Tell(Status::BadArgument));
            assert_eq!(host.http_call(call("nowhere")), bad);
            let mut pathless = call("workers");
            pathless.headers.retain(|(name, _)| name != b":path");
            assert_eq!(host.http_call(pathless), bad);
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)]).start();
    stage.get(1);
    assert_eq!(stage.tried(), [1]);
}

#[test]
fn the_list_of_addresses_is_read_from_the_callouts_own_headers() {
    let mut side = cluster("side", &[71, 72]);
    side.load_balancing = LoadBalancing::OverrideHost {
        headers: vec!["x-list".to_owned()],
        fallback: Box::new(LoadBalancing::None),
    };
    let script = guest(|host, event| {
        if let Call::RequestHeaders { .. } = event {
            let mut listed = call("side");
            listed.headers.extend(lines(&[("x-list", "127.0.0.1:72")]));
            host.http_call(listed).unwrap();
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)]).cluster(side).start();
    stage.get(1);
    assert_eq!(stage.tried(), [72, 1]);
}

#[test]
fn upstream_filters_run_for_callouts_without_a_connection_id() {
    let attempt = guest(|host, event| {
        if let Call::RequestHeaders { .. } = event {
            assert_eq!(
                host.get_property(b"connection\0id"),
                Err(Refusal::Tell(Status::NotFound))
            );
            assert_eq!(host.get_property(b"xds\0cluster_name").unwrap(), b"side");
            host.replace_header_map_value(MapKind::RequestHeaders, b"authorization", b"key")
                .unwrap();
        }
        None
    });
    let told = Told::default();
    let setup = Setup::new(&[("a", asks(&told))]).cluster(cluster("side", &[71]));
    let mut stage = setup.attempt("side", "attempt", attempt).start();
    stage.get(1);
    stage.connect();
    assert_eq!(
        value(&stage.sent_upstream().0.unwrap(), "authorization"),
        Some("key")
    );
}

#[test]
fn reading_the_client_of_a_callout_stops_the_guest_as_it_crashes_envoy() {
    let attempt = guest(|host, event| {
        if let Call::RequestHeaders { .. } = event {
            assert!(matches!(
                host.get_property(b"source\0address"),
                Err(Refusal::Stop(_))
            ));
        }
        None
    });
    let told = Told::default();
    let setup = Setup::new(&[("a", asks(&told))]).cluster(cluster("side", &[71]));
    let mut stage = setup.attempt("side", "attempt", attempt).start();
    stage.get(1);
    assert_eq!(stage.tried(), [71]);
}

#[test]
fn a_callout_into_its_own_vm_traps() {
    let told = Told::default();
    let asks = asks(&told);
    let setup = Setup::new(&[("a", Arc::clone(&asks))]).cluster(cluster("side", &[71]));
    let reload = FailurePolicy::Reload {
        base_interval: Duration::from_millis(100),
    };
    let mut stage = setup
        .attempt("side", "a", asks)
        .plugin(0, |plugin| plugin.failure_policy = reload)
        .start();
    stage.get(1);
    assert_eq!(*told.lock().unwrap(), ["Tell(InternalFailure)"]);
    assert_eq!(stage.response(1).status, 503);
    assert!(stage.host_log_has("proxy_on_context_create"));
}

#[test]
fn the_answer_for_a_stream_that_is_gone_still_comes_to_the_root() {
    let told = Told::default();
    let mut stage = Setup::new(&[("a", asks(&told))])
        .cluster(cluster("side", &[71]))
        .start();
    stage.get(1);
    stage.leave(1);
    stage.answer(200, &[], true);
    assert_eq!(*told.lock().unwrap(), ["4: 200 "]);
    assert_eq!(stage.tried(), [71]);
}
