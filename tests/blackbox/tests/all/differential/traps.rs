//! What a trap leaves behind.

use blackbox::differential::Case;
use blackbox::plugin::{Plugin, scripted};
use serde_json::json;

const SCRIPT: &str = "
    request_headers @/trap: trap
    response_headers @/late: trap
    response_body @/broken: trap
    log @/log: trap
    log: get_property response/code_details";

fn with_policy(policy: &str) -> Plugin {
    scripted("a", SCRIPT).field("failure_policy", json!(policy))
}

#[test]
fn fail_closed_answers_all_later_requests_with_503() {
    let seen = Case::new()
        .filter(scripted(
            "before",
            "log: get_property response/code_details",
        ))
        .filter(with_policy("FAIL_CLOSED"))
        .run(|client| {
            for path in ["/readyz", "/trap", "/readyz"] {
                drop(client.get(path));
            }
        });

    assert_eq!(seen.statuses(), [200, 503, 503]);
    assert_eq!(
        seen.answers("get_property").last(),
        Some(&"0 \"wasm_fail_stream\"")
    );
    assert_eq!(seen.responses[1].body, b"");
}

#[test]
fn fail_open_lets_later_requests_pass() {
    let seen = Case::new().filter(with_policy("FAIL_OPEN")).run(|client| {
        for path in ["/readyz", "/trap", "/readyz"] {
            drop(client.get(path));
        }
    });

    assert_eq!(
        seen.statuses(),
        [200, 503, 200],
        "the request that traps fails all the same"
    );
}

#[test]
fn fail_reload_waits_for_the_back_off_and_starts_anew() {
    let reload = json!({"backoff": {"base_interval": "0.2s"}});

    let seen = Case::new()
        .filter(with_policy("FAIL_RELOAD").field("reload_config", reload))
        .run(|client| {
            client.get("/readyz");
            std::thread::sleep(std::time::Duration::from_millis(400));
            client.get("/trap");
            client.get("/readyz");
        });

    assert_eq!(seen.statuses(), [200, 503, 200]);
    assert_eq!(seen.said("initialize("), 2);
}

#[test]
fn a_trap_takes_all_plugins_of_its_vm_along() {
    let seen = Case::new()
        .filter(scripted("a", SCRIPT).in_vm("// shared"))
        .filter(scripted("b", "").in_vm("// shared"))
        .filter(scripted("c", ""))
        .run(|client| {
            for path in ["/readyz", "/trap", "/readyz"] {
                drop(client.get(path));
            }
        });

    assert_eq!(seen.statuses(), [200, 503, 503]);
}

#[test]
fn a_trap_on_the_way_back_is_503_or_a_broken_answer() {
    let seen = Case::new()
        .filter(scripted("before", ""))
        .filter(scripted("a", SCRIPT))
        .run(|client| drop(client.post("/late", "body")));
    assert_eq!(seen.statuses(), [503]);

    let seen = Case::new()
        .filter(scripted(
            "before",
            "log: get_property response/code_details",
        ))
        .filter(scripted("a", SCRIPT))
        .run(|client| drop(client.post("/broken", "body")));
    assert_eq!(seen.statuses(), [404]);
    assert_eq!(seen.responses[0].body, b"");
}

#[test]
fn a_trap_in_an_attempt_is_not_retried() {
    let seen = Case::new()
        .attempt(scripted("up", "request_headers #1: trap"))
        .route(json!({"cluster": "workers", "timeout": "5s", "retry_policy": {"retry_on": "5xx,reset", "num_retries": 2}}))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.statuses(), [503]);
    assert!(seen.workers().is_empty());
}
