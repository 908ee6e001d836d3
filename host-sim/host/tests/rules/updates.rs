//! Another configuration amid traffic: who goes by which, what stays and what ends.

use std::sync::Arc;
use std::time::Duration;

use host_sim_host::abi::{Call, HttpCall, MapKind, Trap};

use crate::stage::{PAUSE, Script, Setup, Stage, address, guest, lines, passes, value};

/// Answers with its root id and the number of its context, which counts on in one VM.
fn labels() -> Script {
    guest(|host, call| {
        let label = host.get_property(b"plugin_root_id").unwrap_or_default();
        match call {
            Call::Configure { .. } if label == b"bad" => {
                host.log(4, b"bad is no label").unwrap();
                return Some(0);
            }
            Call::ResponseHeaders { context, .. } => {
                let context = context.to_string();
                for (name, text) in [
                    ("x-label", label.as_slice()),
                    ("x-context", context.as_bytes()),
                ] {
                    let map = MapKind::ResponseHeaders;
                    host.add_header_map_value(map, name.as_bytes(), text)
                        .unwrap();
                }
            }
            _ => {}
        }
        None
    })
}

/// One filter that answers with `label`.
fn labelled(script: &Script, label: &str) -> Setup {
    Setup::new(&[("f", script.clone())]).plugin(0, |plugin| label.clone_into(&mut plugin.root_id))
}

fn label_of(stage: &Stage, id: u64) -> (String, String) {
    let headers = stage.response(id).headers;
    let text = |name| value(&headers, name).unwrap_or_default().to_owned();
    (text("x-label"), text("x-context"))
}

fn pair(label: &str, context: &str) -> (String, String) {
    (label.to_owned(), context.to_owned())
}

#[test]
fn a_request_under_way_ends_with_the_configuration_it_began_with() {
    let script = labels();
    let mut stage = labelled(&script, "old").start();
    stage.get(1);

    stage.update(labelled(&script, "new")).unwrap();
    stage.answer(200, &[], true);
    stage.get(2);
    stage.answer(200, &[], true);

    // One VM: roots are 1 and 3.
    assert_eq!(label_of(&stage, 1), pair("old", "2"));
    assert_eq!(label_of(&stage, 2), pair("new", "4"));
}

#[test]
fn the_root_context_of_the_old_configuration_ends_with_its_last_request() {
    let script = labels();
    let mut stage = labelled(&script, "old").start();
    stage.get(1);
    stage.update(labelled(&script, "new")).unwrap();
    stage.journal();
    assert_eq!(stage.worker.versions(), 2);

    stage.answer(200, &[], true);

    let ends = ["f response_headers", "f log", "f done", "f done"];
    assert_eq!(stage.journal(), ends);
    assert_eq!(stage.worker.versions(), 1);
}

#[test]
fn what_two_configurations_agree_on_stays() {
    let script = labels();
    let mut stage = labelled(&script, "same").start();

    stage.update(labelled(&script, "same")).unwrap();

    assert_eq!(stage.journal(), [""; 0]);
}

#[test]
fn changed_code_is_another_vm() {
    let mut stage = labelled(&labels(), "l").start();
    stage.get(1);
    stage.answer(200, &[], true);
    assert_eq!(label_of(&stage, 1), pair("l", "2"));

    let script = labels();
    stage.rebuild("f", script.clone());
    stage.update(labelled(&script, "l")).unwrap();
    stage.get(2);
    stage.answer(200, &[], true);

    // The numbers began anew.
    assert_eq!(label_of(&stage, 2), pair("l", "2"));
}

#[test]
fn a_configuration_that_a_filter_refuses_changes_nothing() {
    let script = labels();
    let mut stage = labelled(&script, "old").main_thread().start();
    stage.get(1);

    let refused = stage.update(labelled(&script, "bad")).unwrap_err();
    stage.answer(200, &[], true);
    stage.get(2);
    stage.answer(200, &[], true);

    assert_eq!(
        refused.to_string(),
        "plugin f refused its configuration: bad is no label"
    );
    assert_eq!(label_of(&stage, 1), pair("old", "2"));
    assert_eq!(label_of(&stage, 2), pair("old", "3"));
}

#[test]
fn a_configuration_at_which_a_filter_traps_does_not_harm_requests_under_way() {
    let script: Script = Arc::new(|host, call| {
        let label = host.get_property(b"plugin_root_id").unwrap_or_default();
        match call {
            Call::Configure { .. } if label == b"trap" => Err(Trap("panic".to_owned())),
            _ => Ok(None),
        }
    });
    let mut stage = labelled(&script, "fine").main_thread().start();
    stage.get(1);

    assert!(stage.update(labelled(&script, "trap")).is_err());
    stage.answer(200, &[], true);

    assert_eq!(stage.response(1).status, 200);
}

#[test]
fn ticks_of_the_old_root_context_end_when_its_last_request_has() {
    let ticks = |label: &str| labelled(&ticking(), label);
    let mut stage = ticks("old").start();
    stage.get(1);
    stage.update(ticks("new")).unwrap();
    stage.journal();

    stage.wait(100);
    assert_eq!(stage.journal(), ["f tick", "f tick"]);
    stage.answer(200, &[], true);
    stage.journal();
    stage.wait(100);
    assert_eq!(stage.journal(), ["f tick"]);
}

/// Ticks each 100 ms.
fn ticking() -> Script {
    guest(|host, call| {
        if matches!(call, Call::Configure { .. }) {
            host.set_tick_period_milliseconds(100).unwrap();
        }
        None
    })
}

#[test]
fn a_root_context_that_is_not_done_ends_when_it_says_so() {
    let script = guest(|host, call| match call {
        Call::Configure { .. } => {
            host.set_tick_period_milliseconds(100).unwrap();
            None
        }
        Call::Done { context: 1 } => {
            host.http_call(callout()).unwrap();
            Some(0)
        }
        Call::HttpCallResponse { .. } => {
            host.done().unwrap();
            None
        }
        _ => None,
    });
    let mut stage = labelled(&script, "old").start();
    stage.update(labelled(&script, "new")).unwrap();
    stage.journal();

    stage.wait(100);
    // Only the new one ticks.
    assert_eq!(stage.journal(), ["f tick"]);
    stage.answer(200, &[], true);
    let journal = stage.journal.lock().unwrap().clone();
    assert_eq!(journal, ["f http_call_response", "f delete"]);
}

fn callout() -> HttpCall {
    HttpCall {
        cluster: b"workers".to_vec(),
        headers: lines(&[
            (":method", "GET"),
            (":path", "/"),
            (":authority", "workers"),
        ]),
        body: Vec::new(),
        timeout: Duration::ZERO,
    }
}

#[test]
fn an_address_that_is_gone_is_served_as_before_until_it_is_closed() {
    let script = labels();
    let mut stage = labelled(&script, "old").start();
    let mut moved = labelled(&script, "new");
    moved.config.listeners[0].address = address(10001);

    stage.update(moved).unwrap();
    stage.get(1);
    stage.answer(200, &[], true);

    assert_eq!(label_of(&stage, 1).0, "old");
    let headers = stage.response(1).headers;
    assert_eq!(value(&headers, "connection"), Some("close"));
    assert_eq!(stage.worker.versions(), 2);
    stage.worker.close_entrance(0, stage.now);
    assert_eq!(stage.worker.versions(), 1);
}

#[test]
fn shared_data_goes_with_the_last_vm_of_its_name() {
    let reads = || {
        guest(|host, call| {
            if matches!(call, Call::RequestHeaders { .. }) {
                let known = host.get_shared_data(b"k").is_ok();
                host.set_shared_data(b"k", b"v", 0).unwrap();
                let name = if known { b"x-known" } else { b"x-fresh" };
                host.add_header_map_value(MapKind::RequestHeaders, name, b"yes")
                    .unwrap();
            }
            None
        })
    };
    let of = |vm_id: &str, label: &str| {
        labelled(&reads(), label).plugin(0, |plugin| plugin.vm.vm_id = vm_id.to_owned())
    };
    let mut stage = of("a", "1").start();
    let known = |stage: &mut Stage, id: u64| {
        stage.get(id);
        stage.answer(200, &[], true);
        let head = stage.sent_upstream().0.unwrap();
        value(&head, "x-known").is_some()
    };
    assert!(!known(&mut stage, 1));

    stage.update(of("a", "2")).unwrap();
    assert!(known(&mut stage, 2));
    stage.rebuild("f", reads());
    stage.update(of("a", "2")).unwrap();
    assert!(known(&mut stage, 3));
    stage.update(of("b", "2")).unwrap();
    assert!(!known(&mut stage, 4));
    stage.update(of("a", "2")).unwrap();
    assert!(!known(&mut stage, 5));
}

#[test]
fn a_retry_stays_with_the_clusters_of_its_request() {
    let mut stage = Setup::new(&[]).retry("5xx", 1).start();
    stage.get(1);
    stage.answer(503, &[], true);
    let mut gone = Setup::new(&[]);
    gone.config.clusters.clear();

    stage.update(gone).unwrap();
    stage.wait(30);
    stage.answer(200, &[], true);

    assert_eq!(stage.response(1).status, 200);
    stage.get(2);
    assert_eq!(stage.response(2).status, 503);
}

#[test]
fn a_paused_request_goes_on_after_any_number_of_updates() {
    let script = guest(|_, call| matches!(call, Call::RequestHeaders { .. }).then_some(PAUSE));
    let body = guest(|_, _| None);
    let setup = |label: &str| {
        Setup::new(&[("f", script.clone()), ("g", body.clone())]).plugin(0, |plugin| {
            plugin.configuration = label.as_bytes().to_vec();
        })
    };
    let mut stage = setup("0").start();
    stage.request(1, &[], false);
    for label in ["1", "2", "3", "4"] {
        stage.update(setup(label)).unwrap();
    }
    assert_eq!(stage.worker.versions(), 2);

    stage.data(1, "body", true);
    stage.answer(200, &[], true);

    assert_eq!(stage.response(1).status, 200);
    assert_eq!(stage.worker.versions(), 1);
}

#[test]
fn an_upstream_filter_is_the_one_of_the_requests_configuration() {
    let with = |name: &str| Setup::new(&[]).attempt("workers", name, passes());
    let mut stage = with("old").retry("5xx", 1).start();
    stage.get(1);
    stage.answer(503, &[], true);
    stage.update(with("new")).unwrap();
    stage.journal();

    stage.wait(30);
    stage.answer(200, &[], true);

    let journal = stage.journal();
    assert!(
        journal.iter().all(|line| line.starts_with("old ")),
        "{journal:?}"
    );
    assert_eq!(stage.response(1).status, 200);
}
