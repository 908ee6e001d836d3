//! The table of keys on the fake host: a control plane that says what a test has it say.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use dragoman_config::PolledKey;
use dragoman_keys::{Found, Looker};
use dragoman_poll::Poll;
use dragoman_sdk::fake::{FakeHost, SharedMap, lines, root};
use dragoman_sdk::{Callout, CalloutResponse, Service};
use serde_json::{Value, json};

/// One thread's copy.
struct Copy {
    poll: Poll,
    host: FakeHost,
}

impl Copy {
    fn new(shared: &SharedMap, name: u64) -> Self {
        let store =
            json!({"address": "127.0.0.1:9201", "poll_seconds": 10, "credential": {"env": "KEY"}});
        let document =
            json!({"version": 1, "auth": {"key_store": store}, "workers": [], "endpoints": []});
        let environment = BTreeMap::from([("KEY".to_owned(), "control-secret".to_owned())]);
        let mut host = FakeHost {
            shared: Rc::clone(shared),
            ..FakeHost::default()
        };
        // The first number names the copy; of the others 100 means the longest wait: 8.25 s.
        host.random.push_back(name);
        host.random.extend(std::iter::repeat_n(100, 10_000));
        let poll = Poll::configure(document.to_string().as_bytes(), &environment).unwrap();
        Self { poll, host }
    }

    /// Ticks at this time; what is asked.
    fn tick(&mut self, now_ms: u64) -> Vec<Callout> {
        self.host.now = Duration::from_millis(now_ms);
        let before = self.host.callouts.len();
        self.poll.on_tick(&mut root(&mut self.host)).unwrap();
        self.host.callouts[before..].to_vec()
    }

    /// Answers the latest callout; what is asked then.
    fn answer(&mut self, status: &str, etag: &str, body: &str) -> Vec<Callout> {
        let before = self.host.callouts.len();
        let mut headers = vec![(":status", status), ("etag", etag)];
        headers.retain(|(_, value)| !value.is_empty());
        let response = CalloutResponse {
            headers: lines(&headers),
            body: body.into(),
        };
        let token = u32::try_from(before).unwrap();
        self.poll
            .on_callout(&mut root(&mut self.host), token, response)
            .unwrap();
        self.host.callouts[before..].to_vec()
    }

    /// A whole poll at this time, of a table of one page.
    fn read(&mut self, now_ms: u64, etag: &str, keys: &[u32]) {
        assert_eq!(self.tick(now_ms).len(), 1, "it is time to ask");
        assert_eq!(self.answer("200", etag, &page(keys, None)), []);
        // Sweeps what the table before left.
        self.tick(now_ms + 250);
    }

    fn finds(&mut self, key: u32) -> Option<bool> {
        let now = self.host.now.as_millis().try_into().unwrap();
        let found = Looker::default().find(&mut root(&mut self.host), &digest(key), now);
        match found.unwrap() {
            Found::Record(record) => {
                let polled = PolledKey::decode(digest(key), &record).unwrap();
                assert_eq!(polled.key.id, format!("k{key}"));
                Some(true)
            }
            Found::Absent => Some(false),
            Found::NotReady => None,
        }
    }

    fn polls(&self, outcome: &str) -> u64 {
        let name = format!("dragoman_key_table_polls;outcome={outcome}");
        self.host.metric(&name).unwrap()
    }
}

fn digest(key: u32) -> [u8; 32] {
    let mut digest = [0; 32];
    digest[28..].copy_from_slice(&key.to_be_bytes());
    digest
}

fn record(key: u32) -> Value {
    json!({"id": format!("k{key}"), "sha256": format!("{key:064x}"), "tenant": "t", "app": "a"})
}

fn page(keys: &[u32], next: Option<&str>) -> String {
    let keys: Vec<Value> = keys.iter().map(|key| record(*key)).collect();
    json!({"version": 1, "keys": keys, "next": next}).to_string()
}

fn header<'a>(callout: &'a Callout, name: &str) -> Option<&'a str> {
    let (_, value) = callout.headers.iter().find(|(key, _)| key == name)?;
    Some(value)
}

fn started() -> Copy {
    Copy::new(&SharedMap::default(), 7)
}

#[test]
fn a_table_is_asked_for_at_once_and_in_force_when_its_last_page_came() {
    let mut copy = started();
    let asked = copy.tick(0);
    assert_eq!(asked[0].cluster, "dragoman-control");
    assert_eq!(header(&asked[0], ":path"), Some("/v1/keys/resolved"));
    assert_eq!(
        header(&asked[0], "authorization"),
        Some("Bearer control-secret")
    );
    assert_eq!(header(&asked[0], "if-none-match"), None);
    assert_eq!(copy.finds(1), None);

    let asked = copy.answer(
        "200",
        "\"1\"",
        &page(&[1], Some("/v1/keys/resolved?page=2")),
    );
    assert_eq!(header(&asked[0], ":path"), Some("/v1/keys/resolved?page=2"));
    assert_eq!(copy.finds(1), None, "not whole yet");

    assert_eq!(copy.answer("200", "\"1\"", &page(&[2], None)), []);
    assert_eq!(
        (copy.finds(1), copy.finds(2), copy.finds(3)),
        (Some(true), Some(true), Some(false))
    );
    assert_eq!(copy.polls("replaced"), 1);
    assert_eq!(copy.host.logged, ["key table: 2 keys"]);
}

#[test]
fn a_table_that_has_not_changed_costs_one_question() {
    let mut copy = started();
    copy.read(0, "\"1\"", &[1]);
    let buckets = copy.host.shared.borrow().clone();
    assert_eq!(copy.tick(8_249), []);
    let asked = copy.tick(8_250);
    assert_eq!(header(&asked[0], "if-none-match"), Some("\"1\""));
    assert_eq!(copy.answer("304", "", ""), []);
    let changed: Vec<String> = copy
        .host
        .shared
        .borrow()
        .iter()
        .filter(|(key, value)| buckets.get(*key) != Some(*value))
        .map(|(key, _)| key.clone())
        .collect();
    assert_eq!(changed, ["dragoman/1/keys", "dragoman/1/poll"]);
    copy.tick(8_500);
    assert_eq!(copy.host.metric("dragoman_key_table_age_seconds"), Some(0));
    assert_eq!(copy.host.metric("dragoman_keys"), Some(1));
    assert_eq!((copy.polls("unchanged"), copy.polls("failed")), (1, 0));
}

#[test]
fn the_age_of_the_copy_grows_while_nobody_says_that_it_holds() {
    let mut copy = started();
    copy.read(0, "\"1\"", &[1]);
    copy.tick(10_000);
    copy.answer("", "", "");
    copy.tick(14_500);
    assert_eq!(copy.host.metric("dragoman_key_table_age_seconds"), Some(14));
    assert_eq!(copy.finds(1), Some(true));
}

#[test]
fn trouble_is_logged_once_and_so_is_its_end() {
    let mut copy = started();
    copy.read(0, "\"1\"", &[1]);
    copy.host.logged.clear();
    for (round, status) in [(1, ""), (2, "503"), (3, "504")] {
        copy.tick(round * 10_000);
        copy.answer(status, "", "");
    }
    for round in 4..6 {
        copy.tick(round * 10_000);
        copy.answer("304", "", "");
    }
    assert_eq!(
        copy.host.logged,
        [
            "key table not read: no answer; the last good one stays in force",
            "key table: can be read again",
        ]
    );
    assert_eq!(copy.polls("failed"), 3);
}

#[test]
fn without_any_table_it_is_asked_again_after_a_second() {
    let mut copy = started();
    copy.tick(0);
    copy.answer("503", "", "");
    assert_eq!(
        copy.host.logged,
        ["key table not read: status 503; there is none yet"]
    );
    assert_eq!(copy.tick(599), []);
    copy.read(600, "\"1\"", &[1]);
    assert_eq!(copy.finds(1), Some(true));
}

#[test]
fn a_table_that_cannot_be_used_is_refused_whole_wherever_the_fault_is() {
    let second = "/v1/keys/resolved?page=2";
    let first = || page(&[2, 3], Some(second));
    for (last, reason) in [
        (
            "<html>".to_owned(),
            "document: is not JSON at line 1 column 1",
        ),
        (
            page(&[4, 3], None),
            "keys[1].id: is the id of a key on an earlier page",
        ),
        (
            page(&[4], None).replace("\"t\"", "\"a b\""),
            "keys[0].tenant: must be 1 to 64 of A-Z a-z 0-9 . _ -",
        ),
        (
            page(&[4], None).replace(&format!("{:064x}", 4), &format!("{:064x}", 2)),
            "keys[0].sha256: is the digest of a key on an earlier page",
        ),
    ] {
        let mut copy = started();
        copy.read(0, "\"1\"", &[1]);
        copy.host.logged.clear();
        copy.tick(10_000);
        assert_eq!(copy.answer("200", "\"2\"", &first()).len(), 1);
        assert_eq!(copy.answer("200", "\"2\"", &last), []);

        let expected =
            format!("key table refused: {second}: {reason}; the last good one stays in force");
        assert_eq!(copy.host.logged, [expected]);
        assert_eq!(copy.polls("refused"), 1);
        assert_eq!((copy.finds(1), copy.finds(2)), (Some(true), Some(false)));
        for now in [10_250, 10_500, 10_750] {
            assert_eq!(copy.tick(now), [], "gives up and sweeps what was written");
        }
        copy.read(20_000, "\"3\"", &[2]);
        assert_eq!((copy.finds(1), copy.finds(2)), (Some(false), Some(true)));
    }
}

#[test]
fn a_table_without_a_tag_is_refused() {
    let mut copy = started();
    copy.tick(0);
    copy.answer("200", "", &page(&[1], None));
    let expected =
        "key table refused: /v1/keys/resolved: has no etag of 1 to 256 bytes; there is none yet";
    assert_eq!(copy.host.logged, [expected]);
    assert_eq!(copy.finds(1), None);
}

#[test]
fn a_table_that_changes_between_two_pages_is_read_anew() {
    let mut copy = started();
    copy.tick(0);
    copy.answer("200", "\"1\"", &page(&[1], Some("/2")));
    assert_eq!(copy.answer("200", "\"2\"", &page(&[2], None)), []);
    assert_eq!(copy.finds(1), None);
    // Gives up what was written, sweeps it, asks again.
    let asked: Vec<usize> = [250, 500, 750].map(|now| copy.tick(now).len()).into();
    assert_eq!(asked, [0, 0, 1]);
    copy.answer("200", "\"2\"", &page(&[3], None));
    assert_eq!((copy.finds(1), copy.finds(3)), (Some(false), Some(true)));
    assert_eq!(copy.polls("failed") + copy.polls("refused"), 0);
}

#[test]
fn a_table_that_never_stands_still_waits_for_the_next_poll() {
    let mut copy = started();
    copy.read(0, "\"1\"", &[1]);
    let mut now = 10_000;
    let mut readings = 0;
    while now < 18_000 {
        if !copy.tick(now).is_empty() {
            readings += 1;
            copy.answer("200", "\"2\"", &page(&[2], Some("/2")));
            copy.answer("200", "\"3\"", &page(&[3], None));
        }
        now += 250;
    }
    assert_eq!(readings, 3);
    assert_eq!(copy.polls("refused"), 1);
    assert_eq!((copy.finds(1), copy.finds(2)), (Some(true), Some(false)));
}

#[test]
fn pages_without_an_end_are_refused() {
    let mut copy = started();
    copy.tick(0);
    let mut asked = 1;
    while !copy
        .answer("200", "\"1\"", &page(&[], Some("/again")))
        .is_empty()
    {
        asked += 1;
    }
    assert_eq!(asked, 128);
    assert_eq!(
        copy.host.logged,
        ["key table refused: /again: next: there are more than 128 pages; there is none yet"]
    );
}

#[test]
fn a_key_that_was_good_and_is_gone_or_marked_is_written_down_once() {
    let mut copy = started();
    let mut keys: Vec<Value> = (1..=5).map(record).collect();
    keys[2]["revoked"] = json!(true);
    keys[3]["expires_at"] = json!("1970-01-01T00:00:05Z");
    let table = |keys: &[Value]| json!({"version": 1, "keys": keys, "next": null}).to_string();
    copy.tick(0);
    copy.answer("200", "\"1\"", &table(&keys));
    copy.host.logged.clear();

    // 1 is gone, 2 is marked now, 3 was before, the time of 4 was over, 5 stays.
    keys[1]["revoked"] = json!(true);
    copy.tick(10_000);
    copy.answer("200", "\"2\"", &table(&[keys[1].clone(), keys[4].clone()]));
    for now in [10_250, 10_500, 10_750] {
        copy.tick(now);
    }
    copy.host.logged.sort();
    assert_eq!(
        copy.host.logged,
        [
            "key revoked: k1 of t/a: not in the key table any more",
            "key revoked: k2 of t/a: marked in the key table",
            "key table: 2 keys",
        ]
    );
    assert_eq!(copy.host.metric("dragoman_keys_revoked"), Some(2));
}

#[test]
fn one_copy_reads_and_another_goes_on_where_it_was_lost() {
    let shared = SharedMap::default();
    let (mut first, mut second) = (Copy::new(&shared, 1), Copy::new(&shared, 2));
    first.read(0, "\"1\"", &[1]);
    first.tick(10_000);
    first.answer("200", "\"2\"", &page(&[2], Some("/2")));
    assert_eq!(second.tick(12_000), []);

    // The first one is silent in the midst of a table.
    let asked: Vec<usize> = [13_000, 13_250, 13_500]
        .map(|now| second.tick(now).len())
        .into();
    assert_eq!(
        asked,
        [0, 0, 1],
        "gives up what was written, sweeps it, asks"
    );
    second.answer("200", "\"3\"", &page(&[3], None));
    first.answer("200", "\"2\"", &page(&[4], None));
    for copy in [&mut first, &mut second] {
        let found = [1, 2, 3, 4].map(|key| copy.finds(key));
        assert_eq!(found, [Some(false), Some(false), Some(true), Some(false)]);
    }
}

#[test]
fn a_copy_whose_lease_is_over_takes_no_answer_any_more() {
    let shared = SharedMap::default();
    let (mut first, mut second) = (Copy::new(&shared, 1), Copy::new(&shared, 2));
    first.tick(0);
    assert_eq!(second.tick(3_000).len(), 1);
    assert_eq!(first.tick(3_100), []);
    first.answer("200", "\"1\"", &page(&[1], None));
    assert_eq!(first.finds(1), None);
    second.answer("200", "\"1\"", &page(&[1], None));
    assert_eq!(first.finds(1), Some(true));
}

#[test]
fn a_credential_whose_variable_is_not_set_is_a_faulty_configuration() {
    let store = json!({"address": "127.0.0.1:9201", "credential": {"env": "KEY"}});
    let document =
        json!({"version": 1, "auth": {"key_store": store}, "workers": [], "endpoints": []});
    let fault = Poll::configure(document.to_string().as_bytes(), &BTreeMap::new()).unwrap_err();
    assert_eq!(
        fault,
        "auth.key_store.credential.env: KEY: not set in the environment of Envoy"
    );
}
