//! What a dead guest does to its streams (envoy-lab.md 5).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use host_sim_host::abi::{Call, MapKind, Trap};
use host_sim_host::config::FailurePolicy;

use crate::stage::{PAUSE, Script, Setup, Stage, panics, passes};

fn on() -> Arc<AtomicBool> {
    Arc::new(AtomicBool::new(true))
}

fn in_request(call: &Call) -> bool {
    matches!(call, Call::RequestHeaders { .. })
}

/// A stage whose filter panics at the first request only.
fn trapped(policy: FailurePolicy) -> Stage {
    let switch = on();
    let setup = Setup::new(&[("a", panics(&switch, in_request))]);
    let mut stage = setup
        .plugin(0, |plugin| plugin.failure_policy = policy)
        .start();
    stage.get(1);
    assert_eq!(
        (stage.response(1).status, stage.response(1).body.as_str()),
        (503, "")
    );
    assert_eq!(
        stage.last_log(),
        r#"{"code":503,"details":"wasm_fail_stream","flags":"-"}"#
    );
    switch.store(false, Ordering::Relaxed);
    stage
}

#[test]
fn closed_refuses_from_then_on() {
    let mut stage = trapped(FailurePolicy::Closed);
    stage.wait(60_000);
    stage.get(2);
    assert_eq!(stage.response(2).status, 503);
    assert_eq!(stage.tried(), []);
}

#[test]
fn open_passes_without_the_filter() {
    let mut stage = trapped(FailurePolicy::Open);
    stage.journal();
    stage.get(2);
    stage.answer(200, &[], true);
    assert_eq!(stage.response(2).status, 200);
    assert_eq!(stage.journal(), Vec::<String>::new());
}

#[test]
fn reload_heals_once_the_last_load_is_old_enough() {
    let mut stage = trapped(FailurePolicy::Reload {
        base_interval: Duration::from_secs(1),
    });
    stage.get(2);
    assert_eq!(stage.response(2).status, 503, "the first load counts");
    stage.wait(1500);
    stage.journal();
    stage.get(3);
    assert_eq!(
        stage.journal(),
        ["a vm_start", "a configure", "a request_headers"]
    );
    stage.answer(200, &[], true);
    assert_eq!(stage.response(3).status, 200);
}

/// Waits in every callback of a request; panics when told by a header.
fn waits_or_panics() -> Script {
    Arc::new(|host, call| match call {
        Call::RequestHeaders { .. } => {
            match host.get_header_map_value(MapKind::RequestHeaders, b"x-panic") {
                Ok(_) => Err(Trap("panic".to_owned())),
                Err(_) => Ok(Some(PAUSE)),
            }
        }
        _ => Ok(None),
    })
}

#[test]
fn a_stream_that_waits_in_a_dead_vm_ends_with_the_idle_time() {
    let mut setup = Setup::new(&[("a", passes()), ("b", waits_or_panics())]);
    setup.http().stream_idle_timeout = Some(Duration::from_secs(2));
    let mut stage = setup.start();
    stage.get(1);
    stage.request(2, &[("x-panic", "1")], true);
    assert_eq!(stage.response(2).status, 503);
    stage.wait(1999);
    assert_eq!(stage.response(1).status, 0);
    stage.wait(1);
    assert_eq!(
        (stage.response(1).status, stage.response(1).body.as_str()),
        (503, "")
    );
    assert_eq!(
        stage.last_log(),
        r#"{"code":503,"details":"wasm_fail_stream","flags":"SI"}"#
    );
}

#[test]
fn a_response_under_way_is_cut_at_its_next_piece() {
    let switch = on();
    let script: Script = panics(&switch, |call| matches!(call, Call::ResponseBody { .. }));
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
fn another_modules_streams_are_untouched() {
    let switch = on();
    let mut setup = Setup::new(&[("a", passes())]);
    setup
        .config
        .listeners
        .push(setup.config.listeners[0].clone());
    let mut stage = setup
        .attempt("workers", "attempt", panics(&switch, in_request))
        .start();
    stage.get(1);
    assert_eq!(stage.response(1).status, 503);
    stage.get(2);
    assert!(stage.journal().contains(&"a response_headers".to_owned()));
}

#[test]
fn a_trap_in_an_attempt_is_not_retried() {
    let switch = on();
    let mut stage = Setup::new(&[])
        .attempt("workers", "attempt", panics(&switch, in_request))
        .retry("5xx,reset", 3)
        .start();
    stage.get(1);
    stage.wait(1000);
    assert_eq!(stage.response(1).status, 503);
    assert_eq!(stage.tried(), [1]);
    assert!(stage.sent_upstream().0.is_none());
}

#[test]
fn a_trap_at_the_end_leaves_the_response_whole_and_later_requests_suffer() {
    let switch = on();
    let mut stage = Setup::new(&[(
        "a",
        panics(&switch, |call| matches!(call, Call::Done { .. })),
    )])
    .start();
    stage.get(1);
    stage.answer(200, &[], true);
    assert_eq!(stage.response(1).status, 200);
    stage.get(2);
    assert_eq!(stage.response(2).status, 503);
}

#[test]
fn no_tick_comes_from_a_dead_vm() {
    let script: Script = Arc::new(|host, call| match call {
        Call::Configure { .. } => {
            host.set_tick_period_milliseconds(100).unwrap();
            Ok(None)
        }
        Call::Tick { .. } => Err(Trap("panic".to_owned())),
        _ => Ok(None),
    });
    let mut stage = Setup::new(&[("a", script)]).start();
    stage.wait(1000);
    assert_eq!(stage.journal(), ["a tick"]);
    assert_eq!(stage.worker.next_timer(), None);
}
