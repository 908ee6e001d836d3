//! Keys that `poll` has read, beside those of the document.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod support;

use std::rc::Rc;
use std::time::Duration;

use dragoman_auth::Auth;
use dragoman_config::key_page;
use dragoman_contract::Identity;
use dragoman_keys::{Begin, Progress, Salt, Sweep, begin, state};
use dragoman_sdk::fake::{FakeHost, SharedMap, root};
use serde_json::{Value, json};
use support::*;

const NEW: &str = "key-new";
const OTHER: &str = "key-other";

/// The plugin of one thread, with a key store.
fn with_store() -> Rc<Auth> {
    let store = r#""mode": "on", "key_store": {"address": "127.0.0.1:9201"},"#;
    configured(&CONFIG.replace(r#""mode": "on","#, store))
}

fn record(id: &str, key: &str, fields: Value) -> Value {
    let mut record = json!({"id": id, "sha256": hex(key), "tenant": "team-b", "app": "batch"});
    for (name, value) in fields.as_object().unwrap() {
        record[name] = value.clone();
    }
    record
}

/// Brings a table of these records into force, as `poll` does.
fn replace(shared: &SharedMap, records: &[Value]) {
    let mut host = FakeHost {
        shared: Rc::clone(shared),
        ..FakeHost::default()
    };
    let mut cx = root(&mut host);
    let page = json!({"version": 1, "keys": records, "next": null}).to_string();
    let page = key_page(page.as_bytes()).unwrap();
    if let Some(mut sweep) = Sweep::of(&state(&mut cx).unwrap().unwrap()) {
        assert_eq!(sweep.step(&mut cx, 1000, |_| {}).unwrap(), Progress::Done);
    }
    let Begin::Building(mut build) = begin(&mut cx, None, Salt([1; 16])).unwrap() else {
        panic!("the other area is clean");
    };
    for polled in &page.keys {
        build
            .add(&mut cx, &polled.key.sha256, &polled.encode())
            .unwrap();
    }
    assert!(build.commit(&mut cx, "\"1\"", 0).unwrap());
}

/// The host after a request with this key at this time, in seconds.
fn asked_at(auth: &Rc<Auth>, shared: &SharedMap, key: &str, now_s: u64) -> FakeHost {
    let bearer = format!("Bearer {key}");
    let head = [
        (":method", "GET"),
        (":path", "/v1/models"),
        ("authorization", bearer.as_str()),
    ];
    asked_with(auth, shared, &head, now_s)
}

fn asked_with(auth: &Rc<Auth>, shared: &SharedMap, head: &[(&str, &str)], now_s: u64) -> FakeHost {
    let host = FakeHost {
        shared: Rc::clone(shared),
        now: Duration::from_secs(now_s),
        ..FakeHost::new(head)
    };
    let mut it = exchange(auth, host);
    it.headers(true);
    it.host
}

/// Id of the key that came in, or status and reason.
fn outcome(host: &FakeHost) -> Result<String, (u16, String)> {
    let text = |name: &str| {
        let value = host.properties.get(name).cloned().unwrap_or_default();
        String::from_utf8(value).unwrap()
    };
    match &host.replied {
        Some(replied) => Err((replied.status, text("dragoman.refusal"))),
        None => {
            let bytes = &host.properties["dragoman.identity"];
            Ok(Identity::decode(bytes).unwrap().key.to_owned())
        }
    }
}

fn refused(status: u16, reason: &str) -> Result<String, (u16, String)> {
    Err((status, reason.to_owned()))
}

#[test]
fn before_the_first_table_only_the_documents_keys_are_known() {
    let (auth, shared) = (with_store(), SharedMap::default());
    assert_eq!(
        outcome(&asked_at(&auth, &shared, KEY_B, 0)),
        Ok("k-b".to_owned())
    );
    let host = asked_at(&auth, &shared, NEW, 0);
    assert_eq!(outcome(&host), refused(503, "not_ready"));
    let replied = host.replied.unwrap();
    assert_eq!(replied.header("retry-after").as_deref(), Some("1"));
    assert_eq!(replied.header("www-authenticate"), None);
    let none = [(":method", "GET"), (":path", "/v1/models")];
    assert_eq!(
        outcome(&asked_with(&auth, &shared, &none, 0)),
        refused(401, "missing")
    );
}

#[test]
fn readyz_waits_for_the_first_table_and_healthz_does_not() {
    let (auth, shared) = (with_store(), SharedMap::default());
    let status = |auth: &Rc<Auth>, path: &str| {
        let host = asked_with(auth, &shared, &[(":method", "GET"), (":path", path)], 0);
        host.replied.unwrap().status
    };
    assert_eq!(
        (status(&auth, "/readyz"), status(&auth, "/healthz")),
        (503, 200)
    );
    let without_store = configured(CONFIG);
    assert_eq!(status(&without_store, "/readyz"), 200);
    replace(&shared, &[]);
    assert_eq!(
        (status(&auth, "/readyz"), status(&auth, "/healthz")),
        (200, 200)
    );
}

#[test]
fn a_polled_key_comes_in_with_all_that_its_record_grants() {
    let (auth, shared) = (with_store(), SharedMap::default());
    let fields =
        json!({"models": ["chat-*"], "limits": ["gold"], "class": "background", "generation": 4});
    replace(&shared, &[record("n", NEW, fields)]);
    let host = asked_at(&auth, &shared, NEW, 0);
    let identity = Identity::decode(&host.properties["dragoman.identity"]).unwrap();
    assert_eq!(
        (identity.key, identity.tenant, identity.app),
        ("n", "team-b", "batch")
    );
    assert_eq!(identity.key_models, Some(vec!["chat-*"]));
    assert_eq!(identity.limits, Some(vec!["gold"]));
    assert_eq!(identity.class.as_str(), "background");
    assert_eq!(host.properties["dragoman.key_version"], b"4");
}

#[test]
fn the_time_of_a_polled_key_is_looked_at_with_each_request() {
    let (auth, shared) = (with_store(), SharedMap::default());
    let fields =
        json!({"not_before": "1970-01-01T00:01:40Z", "expires_at": "1970-01-01T00:03:20Z"});
    replace(&shared, &[record("n", NEW, fields)]);
    for (now, expected) in [
        (99, refused(401, "not_yet_valid")),
        (100, Ok("n".to_owned())),
        (199, Ok("n".to_owned())),
        (200, refused(401, "expired")),
    ] {
        assert_eq!(
            outcome(&asked_at(&auth, &shared, NEW, now)),
            expected,
            "at {now}"
        );
    }
}

#[test]
fn what_a_polled_key_is_refused_for_is_in_the_log_with_its_name() {
    let (auth, shared) = (with_store(), SharedMap::default());
    let fields = json!({"revoked": true});
    let foreign = json!({"tenant": "team-x"});
    replace(
        &shared,
        &[record("n", NEW, fields), record("o", OTHER, foreign)],
    );
    for (key, id, expected) in [
        (NEW, "n", refused(401, "revoked")),
        (OTHER, "o", refused(403, "tenant_unknown")),
    ] {
        let host = asked_at(&auth, &shared, key, 0);
        assert_eq!(outcome(&host), expected);
        assert_eq!(host.properties["dragoman.key"], id.as_bytes());
    }
    let host = asked_at(&auth, &shared, "key-nobody", 0);
    assert_eq!(outcome(&host), refused(401, "unknown"));
    assert_eq!(host.properties.get("dragoman.key"), None);
}

#[test]
fn a_key_of_the_document_is_what_the_document_says() {
    let (auth, shared) = (with_store(), SharedMap::default());
    replace(
        &shared,
        &[record("other-id", KEY_B, json!({"revoked": true}))],
    );
    assert_eq!(
        outcome(&asked_at(&auth, &shared, KEY_B, 0)),
        Ok("k-b".to_owned())
    );
}

#[test]
fn a_new_key_counts_at_once_and_a_lost_one_for_less_than_a_second() {
    let (auth, shared) = (with_store(), SharedMap::default());
    replace(&shared, &[record("n", NEW, json!({}))]);
    assert_eq!(
        outcome(&asked_at(&auth, &shared, NEW, 100)),
        Ok("n".to_owned())
    );
    replace(&shared, &[record("o", OTHER, json!({}))]);
    assert_eq!(
        outcome(&asked_at(&auth, &shared, OTHER, 100)),
        Ok("o".to_owned())
    );
    assert_eq!(
        outcome(&asked_at(&auth, &shared, NEW, 101)),
        refused(401, "unknown")
    );
}

#[test]
fn without_a_key_store_nobody_looks_into_a_table() {
    let (auth, shared) = (configured(CONFIG), SharedMap::default());
    replace(&shared, &[record("n", NEW, json!({}))]);
    assert_eq!(
        outcome(&asked_at(&auth, &shared, NEW, 0)),
        refused(401, "unknown")
    );
}
