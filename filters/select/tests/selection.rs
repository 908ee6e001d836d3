//! Whole requests through `select` on the fake host.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod support;

use std::collections::VecDeque;

use dragoman_contract::Plan;
use dragoman_sdk::Action;
use dragoman_sdk::fake::{Exchange, FakeHost, SharedMap};

use support::{host, record, select};

/// The document with one endpoint, `chat`: its mode, most attempts, and targets as (worker, weight).
fn config(mode: &str, max_attempts: u8, targets: &[(&str, u32)]) -> String {
    let targets: Vec<String> = targets
        .iter()
        .map(|(worker, weight)| {
            format!(r#"{{"worker": "{worker}", "served_model_name": "m", "weight": {weight}}}"#)
        })
        .collect();
    format!(
        r#"{{
  "version": 1, "auth": {{"mode": "off"}},
  "endpoints": [{{"name": "chat", "mode": "{mode}", "timeout_ms": 1500, "max_attempts": {max_attempts},
                  "targets": [{}]}}],
  "workers": [{{"id": "w1", "cluster": "a", "address": "127.0.0.1:9101"}},
              {{"id": "w2", "cluster": "b", "address": "[::1]:9102"}},
              {{"id": "w3", "cluster": "a", "address": "127.0.0.1:9103"}}]
}}"#,
        targets.join(", ")
    )
}

/// Runs a request for `chat`; `Err` holds the status of a refusal.
fn run(config: &str, shared: &SharedMap, random: u64) -> Result<FakeHost, u16> {
    let mut host = host(&record("chat"), shared);
    host.random = VecDeque::from([random]);
    let mut it = Exchange::new(&select(config), host);
    match it.headers(false) {
        Action::Continue => Ok(it.host),
        Action::Pause => Err(it.host.replied.unwrap().status),
    }
}

fn workers(host: &FakeHost) -> Vec<String> {
    support::workers(&Plan::decode(&host.properties["dragoman.plan"]).unwrap())
}

#[test]
fn candidates_of_several_clusters_become_one_list_with_its_retries_and_time_out() {
    let config = config("failover", 3, &[("w3", 100), ("w2", 100), ("w1", 100)]);
    let host = run(&config, &SharedMap::default(), 0).unwrap();
    let header = |name| host.request_header(name);
    assert_eq!(
        header("x-gateway-destination-endpoint").as_deref(),
        Some("127.0.0.1:9103,[::1]:9102,127.0.0.1:9101")
    );
    assert_eq!(header("x-dragoman-cluster").as_deref(), Some("a"));
    assert_eq!(header("x-dragoman-routed").as_deref(), Some("1"));
    assert_eq!(header("x-envoy-max-retries").as_deref(), Some("2"));
    assert_eq!(
        header("x-envoy-retry-on").as_deref(),
        Some("connect-failure,reset,retriable-status-codes")
    );
    assert_eq!(
        header("x-envoy-retriable-status-codes").as_deref(),
        Some("429,502,503,504")
    );
    assert_eq!(
        header("x-envoy-upstream-rq-per-try-timeout-ms").as_deref(),
        Some("1500")
    );
    let plan = Plan::decode(&host.properties["dragoman.plan"]).unwrap();
    assert_eq!(
        (
            plan.body_len,
            plan.model_start,
            plan.model_end,
            plan.timeout_ms
        ),
        (20, 9, 12, 1500)
    );
    assert_eq!(plan.candidates[1].cluster, "b");
}

#[test]
fn a_single_candidate_is_not_retried() {
    let host = run(
        &config("failover", 2, &[("w1", 100)]),
        &SharedMap::default(),
        0,
    )
    .unwrap();
    assert_eq!(host.request_header("x-envoy-retry-on"), None);
    assert_eq!(host.request_header("x-envoy-max-retries"), None);
}

#[test]
fn no_more_candidates_than_attempts() {
    let config = config("failover", 2, &[("w1", 100), ("w2", 100), ("w3", 100)]);
    assert_eq!(
        workers(&run(&config, &SharedMap::default(), 0).unwrap()),
        ["w1", "w2"]
    );
}

#[test]
fn turns_go_round_over_all_requests_of_the_process() {
    let config = config("round-robin", 1, &[("w1", 100), ("w2", 100), ("w3", 100)]);
    let shared = SharedMap::default();
    let firsts: Vec<String> = (0..6)
        .map(|_| workers(&run(&config, &shared, 0).unwrap()).remove(0))
        .collect();
    assert_eq!(firsts, ["w1", "w2", "w3", "w1", "w2", "w3"]);
}

#[test]
fn a_turn_that_others_keep_taking_is_drawn_instead() {
    let config = config("round-robin", 1, &[("w1", 100), ("w2", 100)]);
    let mut host = host(&record("chat"), &SharedMap::default());
    host.random = VecDeque::from([1]);
    host.late_swaps = u32::MAX;
    let mut it = Exchange::new(&select(&config), host);
    assert_eq!(it.headers(false), Action::Continue);
    assert_eq!(workers(&it.host), ["w2"]);
}

#[test]
fn weights_decide_the_share_of_first_attempts() {
    let config = config("weighted", 2, &[("w1", 80), ("w2", 20), ("w3", 0)]);
    let select = select(&config);
    let first_is_w1 = (0..100)
        .filter(|_| {
            let host = host(&record("chat"), &SharedMap::default());
            let mut it = Exchange::new(&select, host);
            assert_eq!(it.headers(false), Action::Continue);
            let tried = workers(&it.host);
            assert_eq!(tried.len(), 2);
            tried[0] == "w1"
        })
        .count();
    assert_eq!(first_is_w1, 80);
}

#[test]
fn an_endpoint_without_a_worker_is_out_of_capacity() {
    let config = config("failover", 2, &[]);
    assert_eq!(run(&config, &SharedMap::default(), 0).err(), Some(503));
}

#[test]
fn an_endpoint_that_this_thread_does_not_know_yet_is_out_of_capacity() {
    let config = config("failover", 2, &[("w1", 100)]);
    let host = host(&record("new"), &SharedMap::default());
    let mut it = Exchange::new(&select(&config), host);
    assert_eq!(it.headers(false), Action::Pause);
    let replied = it.host.replied.unwrap();
    assert_eq!(replied.status, 503);
    assert!(replied.text().contains("no_capacity"), "{}", replied.text());
}

#[test]
fn a_request_that_no_filter_resolved_is_refused() {
    let mut it = Exchange::new(&select(&config("failover", 1, &[])), FakeHost::new(&[]));
    assert_eq!(it.headers(false), Action::Pause);
    let replied = it.host.replied.unwrap();
    assert_eq!(replied.status, 500);
    assert!(
        replied.text().contains("misconfigured"),
        "{}",
        replied.text()
    );
}
