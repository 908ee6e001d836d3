//! The service on the fake host: several copies, one shared data, a clock that is set.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use dragoman_contract::Health;
use dragoman_poll::Poll;
use dragoman_sdk::fake::{FakeHost, SharedMap, lines, root};
use dragoman_sdk::{Callout, CalloutResponse, Service};

const CONFIG: &str = r#"{
  "version": 1, "endpoints": [], "auth": {"mode": "off"},
  "health": {"health_check_seconds": 10, "timeout_ms": 500},
  "workers": [{"id": "w1", "cluster": "a", "address": "127.0.0.1:9101"}, {"id": "w2", "cluster": "b", "address": "127.0.0.1:9102"}]
}"#;

/// One thread's copy.
struct Copy {
    poll: Poll,
    host: FakeHost,
}

impl Copy {
    fn new(shared: &SharedMap, name: u64) -> Self {
        let poll = Poll::configure(CONFIG.as_bytes(), &BTreeMap::new()).unwrap();
        // The first number names the copy; of the others 100 means no jitter.
        let random = VecDeque::from_iter([name].into_iter().chain(std::iter::repeat_n(100, 1000)));
        let host = FakeHost {
            shared: Rc::clone(shared),
            random,
            ..FakeHost::default()
        };
        Self { poll, host }
    }

    /// Ticks at this time; what is sent.
    fn tick(&mut self, now_ms: u64) -> Vec<Callout> {
        self.host.now = Duration::from_millis(now_ms);
        let before = self.host.callouts.len();
        self.poll.on_tick(&mut root(&mut self.host)).unwrap();
        self.host.callouts[before..].to_vec()
    }

    /// Answers the callout of this number, counted from 1; what is sent then.
    fn answer(&mut self, token: u32, status: &str, body: &str) -> Vec<Callout> {
        let before = self.host.callouts.len();
        let headers = if status.is_empty() {
            Vec::new()
        } else {
            lines(&[(":status", status)])
        };
        let response = CalloutResponse {
            headers,
            body: body.into(),
        };
        self.poll
            .on_callout(&mut root(&mut self.host), token, response)
            .unwrap();
        self.host.callouts[before..].to_vec()
    }
}

fn header<'a>(callout: &'a Callout, name: &str) -> &'a str {
    &callout
        .headers
        .iter()
        .find(|(key, _)| key == name)
        .unwrap()
        .1
}

fn health(shared: &SharedMap, worker: &str) -> Option<(bool, Option<Vec<String>>, u64)> {
    let shared = shared.borrow();
    let (bytes, _) = shared.get(&Health::key(worker))?;
    let health = Health::decode(bytes).unwrap();
    let models = health
        .models
        .map(|models| models.into_iter().map(str::to_owned).collect());
    Some((
        health.ready,
        models,
        u64::try_from(health.checked.as_millis()).unwrap(),
    ))
}

#[test]
fn a_worker_is_asked_whether_it_is_ready_and_then_what_it_has() {
    let shared = SharedMap::default();
    let mut copy = Copy::new(&shared, 7);
    let sent = copy.tick(0);
    assert_eq!(sent.len(), 2);
    assert_eq!(
        (sent[0].cluster.as_str(), header(&sent[0], ":path")),
        ("a", "/readyz")
    );
    assert_eq!(
        header(&sent[0], "x-gateway-destination-endpoint"),
        "127.0.0.1:9101"
    );
    assert_eq!(sent[0].timeout, Duration::from_millis(500));
    assert_eq!(header(&sent[0], "x-dragoman-probe").len(), 32);

    let models = copy.answer(1, "200", "");
    assert_eq!(header(&models[0], ":path"), "/v1/models");
    assert_eq!(
        header(&models[0], "x-dragoman-probe"),
        header(&sent[0], "x-dragoman-probe")
    );
    assert_eq!(health(&shared, "w1"), Some((true, None, 0)));
    copy.answer(3, "200", r#"{"data":[{"id":"large"}]}"#);
    assert_eq!(
        health(&shared, "w1"),
        Some((true, Some(vec!["large".into()]), 0))
    );
}

#[test]
fn a_draining_worker_leaves_with_its_answer_and_returns_with_the_next() {
    let shared = SharedMap::default();
    let mut copy = Copy::new(&shared, 7);
    copy.tick(0);
    assert_eq!(copy.answer(1, "503", ""), []);
    copy.answer(2, "", "");
    assert_eq!(health(&shared, "w1"), Some((false, None, 0)));
    assert_eq!(health(&shared, "w2"), Some((false, None, 0)));
    assert_eq!(
        copy.host.logged,
        [
            "worker w1: not ready (503)",
            "worker w2: not ready (no answer)"
        ]
    );

    assert_eq!(copy.tick(9_999), []);
    assert_eq!(copy.tick(10_000).len(), 2);
    copy.answer(3, "200", "");
    assert_eq!(health(&shared, "w1"), Some((true, None, 10_000)));
}

#[test]
fn a_worker_that_has_not_answered_is_not_asked_again() {
    let shared = SharedMap::default();
    let mut copy = Copy::new(&shared, 7);
    copy.tick(0);
    copy.answer(2, "503", "");
    let sent = copy.tick(60_000);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].cluster, "b");
}

#[test]
fn one_copy_polls_and_another_takes_over_when_it_is_silent() {
    let shared = SharedMap::default();
    let (mut first, mut second) = (Copy::new(&shared, 1), Copy::new(&shared, 2));
    assert_eq!(first.tick(0).len(), 2);
    assert_eq!(second.tick(100), []);
    for now in (250..6000).step_by(250) {
        first.tick(now);
        assert_eq!(second.tick(now + 100), [], "at {now}");
    }
    assert_eq!(second.tick(8_700), []);
    assert_eq!(second.tick(8_750).len(), 2, "the lease was over after 3 s");
    assert_eq!(first.tick(9_000), [], "the lease is the other's now");
}

#[test]
fn a_callout_that_cannot_be_sent_counts_as_no_answer() {
    let shared = SharedMap::default();
    let mut copy = Copy::new(&shared, 7);
    copy.host.refuse_callouts = true;
    copy.tick(0);
    assert_eq!(health(&shared, "w1"), Some((false, None, 0)));
    copy.host.refuse_callouts = false;
    assert_eq!(copy.tick(10_000).len(), 2);
}

#[test]
fn a_model_list_that_cannot_be_read_leaves_the_old_one() {
    let shared = SharedMap::default();
    let mut copy = Copy::new(&shared, 7);
    copy.tick(0);
    copy.answer(1, "200", "");
    copy.answer(3, "200", r#"{"data":[{"id":"large"}]}"#);
    copy.tick(10_000);
    copy.answer(4, "200", "");
    copy.answer(5, "200", r#"{"data":["#);
    assert_eq!(
        health(&shared, "w1"),
        Some((true, Some(vec!["large".into()]), 10_000))
    );
}

#[test]
fn all_copies_use_one_probe_token() {
    let shared = SharedMap::default();
    let sent = Copy::new(&shared, 1).tick(0);
    let mut second = Copy::new(&shared, 2);
    // The number behind the name: its own token would be another.
    second.host.random[1] = 5;
    let later = second.tick(60_000);
    assert_eq!(
        header(&sent[0], "x-dragoman-probe"),
        header(&later[0], "x-dragoman-probe")
    );
}

#[test]
fn without_health_and_keys_to_read_there_is_nothing_to_do() {
    let config = CONFIG.replace(
        r#""health": {"health_check_seconds": 10, "timeout_ms": 500},"#,
        "",
    );
    let error = Poll::configure(config.as_bytes(), &BTreeMap::new()).unwrap_err();
    assert_eq!(
        error,
        "health: missing, and auth.key_store and auth.issuers[].jwks_from too: poll has nothing to do without any"
    );
}
