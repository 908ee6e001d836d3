//! Key sets of issuers on the fake host: an issuer that says what a test has it say.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use dragoman_issuers::{Origin, published, want};
use dragoman_poll::Poll;
use dragoman_sdk::fake::{FakeHost, SharedMap, lines, root};
use dragoman_sdk::{Callout, CalloutResponse, Service};
use dragoman_token::KeptKeys;
use serde_json::json;

/// Public keys of RFC 8037 and RFC 7515, and the base point of Ed25519.
const ED: &str =
    r#"{"kty":"OKP","kid":"ed","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
const P256: &str = r#"{"kty":"EC","kid":"p256","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#;
const BASE: &str = r#"{"kty":"OKP","kid":"base","crv":"Ed25519","x":"WGZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmY"}"#;
/// Not on its curve.
const BROKEN: &str = r#"{"kty":"EC","kid":"broken","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"}"#;

/// One thread's copy, with the issuer `corp`.
struct Copy {
    poll: Poll,
    host: FakeHost,
}

impl Copy {
    fn new(shared: &SharedMap, name: u64) -> Self {
        Self::with(shared, name, "/jwks")
    }

    fn with(shared: &SharedMap, name: u64, path: &str) -> Self {
        let from = json!({"address": "127.0.0.1:9301", "host": "login.example", "path": path,
                          "refresh_seconds": 300, "overlap_seconds": 600});
        let issuer = json!({"id": "corp", "issuer": "https://i.example", "audiences": ["gw"], "jwks_from": from});
        let document =
            json!({"version": 1, "auth": {"issuers": [issuer]}, "workers": [], "endpoints": []});
        let mut host = FakeHost {
            shared: Rc::clone(shared),
            ..FakeHost::default()
        };
        // The first number names the copy; of the others 100 means the longest wait.
        host.random.push_back(name);
        host.random.extend(std::iter::repeat_n(100, 10_000));
        let environment: BTreeMap<String, String> = BTreeMap::new();
        let poll = Poll::configure(document.to_string().as_bytes(), &environment).unwrap();
        Self { poll, host }
    }

    /// Ticks at this time; what is asked.
    fn tick(&mut self, now_s: u64) -> Vec<Callout> {
        self.host.now = Duration::from_secs(now_s);
        let before = self.host.callouts.len();
        self.poll.on_tick(&mut root(&mut self.host)).unwrap();
        self.host.callouts[before..].to_vec()
    }

    fn answer(&mut self, status: &str, etag: &str, body: &str) {
        let mut headers = vec![(":status", status), ("etag", etag)];
        headers.retain(|(_, value)| !value.is_empty());
        let response = CalloutResponse {
            headers: lines(&headers),
            body: body.into(),
        };
        let token = u32::try_from(self.host.callouts.len()).unwrap();
        let mut cx = root(&mut self.host);
        self.poll.on_callout(&mut cx, token, response).unwrap();
    }

    /// A whole poll at this time, of these keys.
    fn read(&mut self, now_s: u64, etag: &str, keys: &[&str]) {
        assert_eq!(self.tick(now_s).len(), 1, "it is time to ask");
        self.answer("200", etag, &set(keys));
    }

    /// Ids of the keys in force, each with its end.
    fn keys(&mut self) -> Option<Vec<(String, Option<u64>)>> {
        let origin = Origin::of(&["https://i.example", "127.0.0.1:9301 login.example /jwks"]);
        let set = published(&mut root(&mut self.host), "corp", origin).unwrap()?;
        let kept = KeptKeys::decode(&set.keys).unwrap();
        let key = |kept: dragoman_token::KeptKey| (kept.key.key_id.unwrap(), kept.until_s);
        Some(kept.keys.into_iter().map(key).collect())
    }

    fn metric(&self, name: &str) -> Option<u64> {
        self.host.metric(name)
    }

    fn polls(&self, outcome: &str) -> u64 {
        let name = format!("dragoman_issuer_key_polls;issuer=corp;outcome={outcome}");
        self.metric(&name).unwrap()
    }
}

fn started() -> Copy {
    Copy::new(&SharedMap::default(), 7)
}

fn set(keys: &[&str]) -> String {
    format!("{{\"keys\":[{}]}}", keys.join(","))
}

fn in_set(ids: &[&str]) -> Option<Vec<(String, Option<u64>)>> {
    Some(ids.iter().map(|id| ((*id).to_owned(), None)).collect())
}

fn header<'a>(callout: &'a Callout, name: &str) -> Option<&'a str> {
    let (_, value) = callout.headers.iter().find(|(key, _)| key == name)?;
    Some(value)
}

#[test]
fn a_set_is_asked_for_at_once_and_again_with_its_tag() {
    let mut copy = started();
    let asked = copy.tick(0);
    assert_eq!(asked[0].cluster, "dragoman-issuer-corp");
    assert_eq!(header(&asked[0], ":path"), Some("/jwks"));
    assert_eq!(header(&asked[0], ":authority"), Some("login.example"));
    assert_eq!(header(&asked[0], "if-none-match"), None);
    assert_eq!(copy.keys(), None);

    copy.answer("200", "\"1\"", &set(&[ED, P256]));
    assert_eq!(copy.keys(), in_set(&["ed", "p256"]));
    assert_eq!(
        copy.host.logged,
        ["issuer corp: 2 keys, and 0 that left the set"]
    );
    assert_eq!(copy.metric("dragoman_issuer_keys;issuer=corp"), Some(2));

    assert_eq!(copy.tick(299), []);
    let asked = copy.tick(300);
    assert_eq!(header(&asked[0], "if-none-match"), Some("\"1\""));
    assert_eq!(
        copy.metric("dragoman_issuer_key_age_seconds;issuer=corp"),
        Some(300)
    );
    copy.answer("304", "", "");
    copy.tick(310);
    assert_eq!(
        copy.metric("dragoman_issuer_key_age_seconds;issuer=corp"),
        Some(10)
    );
    assert_eq!((copy.polls("replaced"), copy.polls("unchanged")), (1, 1));
}

#[test]
fn a_key_that_left_the_set_is_good_for_the_overlap() {
    let mut copy = started();
    copy.read(0, "\"1\"", &[ED]);
    copy.read(300, "\"2\"", &[ED, P256]);
    copy.read(600, "\"3\"", &[P256]);
    let until = |id: &str, until: Option<u64>| (id.to_owned(), until);
    assert_eq!(
        copy.keys(),
        Some(vec![until("p256", None), until("ed", Some(1200))])
    );
    copy.read(1200, "\"4\"", &[BASE, P256]);
    assert_eq!(copy.keys(), in_set(&["base", "p256"]));
}

#[test]
fn a_set_that_is_what_it_was_is_not_published_again() {
    let mut copy = started();
    copy.read(0, "", &[ED]);
    let keys = |copy: &Copy| {
        let mut shared = copy.host.shared.borrow().clone();
        shared.retain(|key, _| key.ends_with("/a") || key.ends_with("/b"));
        shared
    };
    let before = keys(&copy);
    let asked = copy.tick(300);
    assert_eq!(header(&asked[0], "if-none-match"), None, "it has no tag");
    copy.answer("200", "\"new\"", &set(&[ED]));
    assert_eq!(keys(&copy), before);
    assert_eq!((copy.polls("replaced"), copy.polls("unchanged")), (1, 1));
    let asked = copy.tick(600);
    assert_eq!(header(&asked[0], "if-none-match"), Some("\"new\""));
}

#[test]
fn a_set_that_cannot_be_used_is_refused_whole_and_the_last_good_one_stays() {
    let mut copy = started();
    copy.read(0, "\"1\"", &[ED]);
    copy.host.logged.clear();
    let refused = "issuer corp: key set refused";
    let stays = "the last good one stays in force";
    for (status, body, reason) in [
        (
            "200",
            "<html>".to_owned(),
            format!("{refused}: must be a JSON object without repeated names; {stays}"),
        ),
        ("200", set(&[P256, BROKEN]), String::new()),
        (
            "503",
            String::new(),
            format!("issuer corp: key set not read: status 503; {stays}"),
        ),
        ("", String::new(), String::new()),
        (
            "200",
            set(&[BROKEN]),
            format!("{refused}: keys[0].x: x and y must be a point of the curve P-256; {stays}"),
        ),
        (
            "200",
            " ".repeat(65_537),
            format!("issuer corp: key set not read: 65537 bytes: must have at most 65536; {stays}"),
        ),
    ] {
        let due = copy.host.now.as_secs() + 300;
        assert_eq!(copy.tick(due).len(), 1);
        copy.answer(status, "\"2\"", &body);
        assert_eq!(copy.keys(), in_set(&["ed"]), "{status} {body:.60}");
        // The log has each trouble once, until it is another one.
        let said = std::mem::take(&mut copy.host.logged);
        assert_eq!(said.concat(), reason);
    }
    assert_eq!((copy.polls("refused"), copy.polls("failed")), (3, 3));
    let due = copy.host.now.as_secs() + 30;
    let asked = copy.tick(due);
    assert_eq!(asked.len(), 1, "after trouble it is asked again soon");
    assert_eq!(header(&asked[0], "if-none-match"), Some("\"1\""));
    copy.answer("304", "", "");
    assert_eq!(copy.host.logged, ["issuer corp: key set can be read again"]);
}

#[test]
fn before_the_first_set_it_is_asked_for_each_second() {
    let mut copy = started();
    for now_s in 0..5 {
        assert_eq!(copy.tick(now_s).len(), 1, "{now_s}");
        copy.answer("", "", "");
    }
    assert_eq!(
        copy.host.logged,
        ["issuer corp: key set not read: no answer; there is none yet"]
    );
    copy.read(5, "\"1\"", &[ED]);
    assert_eq!(copy.keys(), in_set(&["ed"]));
    assert_eq!(copy.tick(10), []);
}

#[test]
fn a_key_id_that_nobody_knows_asks_for_one_reading_in_half_a_minute() {
    let mut copy = started();
    copy.read(0, "\"1\"", &[ED]);
    let saw = |copy: &mut Copy, now_s: u64| {
        want(&mut root(&mut copy.host), "corp", now_s * 1000).unwrap();
    };
    assert_eq!(copy.tick(10), []);
    saw(&mut copy, 10);
    assert_eq!(copy.tick(10).len(), 1);
    copy.answer("304", "", "");
    assert_eq!(copy.tick(11), [], "it was seen before the last question");

    saw(&mut copy, 12);
    assert_eq!(copy.tick(12), []);
    assert_eq!(copy.tick(39), []);
    assert_eq!(copy.tick(40).len(), 1);
    copy.answer("200", "\"2\"", &set(&[ED, P256]));
    assert_eq!(copy.keys(), in_set(&["ed", "p256"]));
    assert_eq!(copy.tick(100), [], "nobody asked since");
}

#[test]
fn another_thread_goes_on_where_the_lost_one_was() {
    let shared = SharedMap::default();
    let mut first = Copy::new(&shared, 7);
    first.read(0, "\"1\"", &[ED]);
    assert_eq!(first.tick(300).len(), 1);

    let mut second = Copy::new(&shared, 8);
    assert_eq!(second.tick(301), [], "the lease is the other's");
    let asked = second.tick(304);
    assert_eq!(header(&asked[0], "if-none-match"), Some("\"1\""));
    second.answer("200", "\"2\"", &set(&[P256]));
    let until = |id: &str, until: Option<u64>| (id.to_owned(), until);
    let expected = Some(vec![until("p256", None), until("ed", Some(904))]);
    assert_eq!(second.keys(), expected);
    // The first one wakes up with its old answer.
    first.host.now = Duration::from_secs(305);
    first.answer("304", "", "");
    assert_eq!(second.keys(), expected);
}

#[test]
fn a_set_from_another_place_has_neither_tag_nor_overlap() {
    let shared = SharedMap::default();
    Copy::with(&shared, 7, "/old").read(0, "\"1\"", &[ED]);
    let mut moved = Copy::new(&shared, 8);
    let asked = moved.tick(4);
    assert_eq!(header(&asked[0], "if-none-match"), None);
    assert_eq!(moved.keys(), None);
    moved.answer("200", "\"1\"", &set(&[P256]));
    assert_eq!(moved.keys(), in_set(&["p256"]));
}
