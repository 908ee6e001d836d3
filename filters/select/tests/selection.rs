//! Whole requests through `select` on the fake host.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod support;

use std::collections::VecDeque;

use dragoman_contract::{Mode, Plan, RequestRecord};
use dragoman_sdk::Action;
use dragoman_sdk::fake::{Exchange, FakeHost, SharedMap};

use support::{host, record, select};

const CONFIG: &str = r#"{
  "version": 1, "endpoints": [], "auth": {"mode": "off"},
  "workers": [{"id": "w1", "cluster": "a", "address": "127.0.0.1:9101"},
              {"id": "w2", "cluster": "b", "address": "[::1]:9102"},
              {"id": "w3", "cluster": "a", "address": "127.0.0.1:9103"}]
}"#;

/// Runs a request; `Err` holds the status of a refusal.
fn run(record: &RequestRecord<'_>, shared: &SharedMap, random: u64) -> Result<FakeHost, u16> {
    let mut host = host(record, shared);
    host.random = VecDeque::from([random]);
    let mut it = Exchange::new(&select(CONFIG), host);
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
    let record = record(Mode::Failover, 3, &[("w3", 100), ("w2", 100), ("w1", 100)]);
    let host = run(&record, &SharedMap::default(), 0).unwrap();
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
        &record(Mode::Failover, 2, &[("w1", 100)]),
        &SharedMap::default(),
        0,
    )
    .unwrap();
    assert_eq!(host.request_header("x-envoy-retry-on"), None);
    assert_eq!(host.request_header("x-envoy-max-retries"), None);
}

#[test]
fn no_more_candidates_than_attempts() {
    let record = record(Mode::Failover, 2, &[("w1", 100), ("w2", 100), ("w3", 100)]);
    assert_eq!(
        workers(&run(&record, &SharedMap::default(), 0).unwrap()),
        ["w1", "w2"]
    );
}

#[test]
fn turns_go_round_over_all_requests_of_the_process() {
    let record = record(
        Mode::RoundRobin,
        1,
        &[("w1", 100), ("w2", 100), ("w3", 100)],
    );
    let shared = SharedMap::default();
    let firsts: Vec<String> = (0..6)
        .map(|_| workers(&run(&record, &shared, 0).unwrap()).remove(0))
        .collect();
    assert_eq!(firsts, ["w1", "w2", "w3", "w1", "w2", "w3"]);
}

#[test]
fn a_turn_that_others_keep_taking_is_drawn_instead() {
    let record = record(Mode::RoundRobin, 1, &[("w1", 100), ("w2", 100)]);
    let mut host = host(&record, &SharedMap::default());
    host.random = VecDeque::from([1]);
    host.late_swaps = u32::MAX;
    let mut it = Exchange::new(&select(CONFIG), host);
    assert_eq!(it.headers(false), Action::Continue);
    assert_eq!(workers(&it.host), ["w2"]);
}

#[test]
fn weights_decide_the_share_of_first_attempts() {
    let record = record(Mode::Weighted, 2, &[("w1", 80), ("w2", 20), ("w3", 0)]);
    let shared = SharedMap::default();
    let draws = 1000;
    let first_is_w1 = (0..draws)
        .filter(|draw| {
            let random = u64::MAX / draws * draw;
            let tried = workers(&run(&record, &shared, random).unwrap());
            assert_eq!(tried.len(), 2);
            tried[0] == "w1"
        })
        .count();
    assert!((790..=810).contains(&first_is_w1), "{first_is_w1}");
}

#[test]
fn a_worker_this_thread_does_not_know_is_left_out() {
    let record = record(Mode::Failover, 3, &[("gone", 100), ("w2", 100)]);
    assert_eq!(
        workers(&run(&record, &SharedMap::default(), 0).unwrap()),
        ["w2"]
    );
}

#[test]
fn an_endpoint_without_a_worker_is_out_of_capacity() {
    for targets in [&[][..], &[("gone", 100)], &[("w1", 0)]] {
        let record = record(Mode::Weighted, 2, targets);
        assert_eq!(
            run(&record, &SharedMap::default(), 0).err(),
            Some(503),
            "{targets:?}"
        );
    }
}

#[test]
fn a_request_that_no_filter_resolved_is_refused() {
    let mut it = Exchange::new(&select(CONFIG), FakeHost::new(&[]));
    assert_eq!(it.headers(false), Action::Pause);
    let replied = it.host.replied.unwrap();
    assert_eq!(replied.status, 500);
    assert!(
        replied.text().contains("misconfigured"),
        "{}",
        replied.text()
    );
}
