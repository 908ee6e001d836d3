//! Where polled keys come from, what a page of them may be, and how a key is kept.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use dragoman_config::{MAX_PAGE_BYTES, MAX_PAGE_KEYS, PolledKey, key_page, parse};
use serde_json::{Value, json};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn document(auth: Value) -> Result<dragoman_config::Gateway, String> {
    let document = json!({"version": 1, "auth": auth, "workers": [], "endpoints": []});
    parse(document.to_string().as_bytes()).map_err(|fault| fault.to_string())
}

fn digest(number: usize) -> String {
    format!("{number:064x}")
}

fn record(number: usize) -> Value {
    json!({"id": format!("k{number}"), "sha256": digest(number), "tenant": "t", "app": "a"})
}

fn page(keys: Value, next: Value) -> Result<dragoman_config::KeyPage, String> {
    let page = json!({"version": 1, "keys": keys, "next": next});
    key_page(page.to_string().as_bytes()).map_err(|fault| fault.to_string())
}

/// A record with these fields more.
fn with(fields: Value) -> Value {
    let mut record = record(1);
    for (name, value) in fields.as_object().unwrap() {
        record[name] = value.clone();
    }
    record
}

#[test]
fn a_key_store_has_usual_values_for_all_but_its_address() {
    let auth = document(json!({"key_store": {"address": "127.0.0.1:9201"}}));
    let store = auth.unwrap().auth.key_store.unwrap();
    assert_eq!(store.address.to_string(), "127.0.0.1:9201");
    assert_eq!(store.path, "/v1/keys/resolved");
    assert_eq!((store.poll_seconds, store.timeout_ms), (10, 2000));
    assert_eq!(store.credential, None);
    assert_eq!(document(json!({})).unwrap().auth.key_store, None);
}

#[test]
fn what_a_key_store_cannot_be_is_refused_without_a_secret() {
    let at = |fields: Value| {
        let mut store = json!({"address": "127.0.0.1:9201"});
        for (name, value) in fields.as_object().unwrap() {
            store[name] = value.clone();
        }
        document(json!({"key_store": store})).unwrap_err()
    };
    for (fields, expected) in [
        (
            json!({"poll_seconds": 0}),
            "auth.key_store.poll_seconds: 0: must be at least 1",
        ),
        (
            json!({"poll_seconds": 3601}),
            "auth.key_store.poll_seconds: 3601: must be at most 3600",
        ),
        (
            json!({"timeout_ms": 0}),
            "auth.key_store.timeout_ms: 0: must be at least 1",
        ),
        (
            json!({"address": "keys:1"}),
            "auth.key_store.address: \"keys:1\": must be an IP address and a port",
        ),
        (json!({"url": "x"}), "auth.key_store.url: unknown field"),
    ] {
        assert_eq!(at(fields), expected);
    }
    let shown = at(json!({"credential": "sk-secret"}));
    assert!(shown.starts_with("auth.key_store.credential: must not hold the secret itself"));
    let off = json!({"mode": "off", "key_store": {"address": "127.0.0.1:9201"}});
    let expected = "auth.key_store: needs auth.mode on: without it nobody shows a key";
    assert_eq!(document(off).unwrap_err(), expected);
}

#[test]
fn a_page_has_keys_of_any_tenant_and_says_where_the_next_one_is() {
    let keys = json!([
        record(1),
        with(json!({"id": "k2", "sha256": digest(2), "revoked": true}))
    ]);
    let page = page(keys, json!("/v1/keys/resolved?page=2")).unwrap();
    assert_eq!(page.next.as_deref(), Some("/v1/keys/resolved?page=2"));
    let keys: Vec<(&str, bool)> = page
        .keys
        .iter()
        .map(|polled| (polled.key.id.as_str(), polled.revoked))
        .collect();
    assert_eq!(keys, [("k1", false), ("k2", true)]);
    assert_eq!(page.keys[0].key.grant.tenant, "t");
}

#[test]
fn a_page_that_is_not_right_to_the_last_field_is_refused() {
    let twice = |field: &str| {
        let mut second = record(2);
        second[field] = record(1)[field].clone();
        json!([record(1), second])
    };
    for (keys, expected) in [
        (
            json!([record(1), {"id": "k2"}]),
            "keys[1].sha256: is required",
        ),
        (
            json!([with(json!({"tenant": "a b"}))]),
            "keys[0].tenant: must be 1 to 64 of A-Z a-z 0-9 . _ -",
        ),
        (
            json!([with(json!({"budget": 5}))]),
            "keys[0].budget: unknown field",
        ),
        (
            json!([with(json!({"revoked": "yes"}))]),
            "keys[0].revoked: must be true or false",
        ),
        (twice("id"), "keys[1].id: is the id of keys[0] already"),
        (
            twice("sha256"),
            "keys[1].sha256: is the sha256 of keys[0] already",
        ),
        (json!(null), "keys: must be a list"),
    ] {
        assert_eq!(
            page(keys.clone(), json!(null)).unwrap_err(),
            expected,
            "{keys}"
        );
    }
    for (text, expected) in [
        (r#"{"version": 1, "keys": []}"#, "next: is required"),
        (
            r#"{"version": 2, "keys": [], "next": null}"#,
            "version: must be 1",
        ),
        (
            r#"{"version": 1, "keys": [], "next": "http://x/"}"#,
            "next: must be a path: / and at most 256 bytes of visible ASCII without #",
        ),
        (
            r#"{"version": 1, "keys": [], "next": null, "total": 3}"#,
            "total: unknown field",
        ),
        (
            r#"{"version": 1, "keys": "#,
            "document: is not JSON at line 1 column 23",
        ),
        ("<html>", "document: is not JSON at line 1 column 1"),
        ("", "document: is not JSON at line 1 column 0"),
    ] {
        assert_eq!(
            key_page(text.as_bytes()).unwrap_err().to_string(),
            expected,
            "{text}"
        );
    }
}

#[test]
fn a_refusal_of_a_page_shows_no_value_because_it_may_be_a_key() {
    let key = "sk-live-7d1f";
    for record in [
        json!(key),
        with(json!({"sha256": key})),
        with(json!({"key": key})),
        with(json!({"expires_at": key})),
        with(json!({"id": format!("{key} ")})),
    ] {
        let refusal = page(json!([record]), json!(null)).unwrap_err();
        assert!(!refusal.contains(key), "{refusal}");
    }
}

#[test]
fn a_page_has_bounds() {
    let keys = |count: usize| Value::Array((0..count).map(record).collect());
    assert_eq!(
        page(keys(MAX_PAGE_KEYS), json!(null)).unwrap().keys.len(),
        MAX_PAGE_KEYS
    );
    let refusal = page(keys(MAX_PAGE_KEYS + 1), json!(null)).unwrap_err();
    assert_eq!(refusal, "keys: has 1025 items: must have at most 1024");
    let long = vec![b' '; MAX_PAGE_BYTES + 1];
    let refusal = key_page(&long).unwrap_err().to_string();
    assert_eq!(
        refusal,
        "document: has 1048577 bytes: must have at most 1048576"
    );
}

/// Records with each field, and with none that may be left out.
fn polled() -> Vec<PolledKey> {
    let full = with(json!({
        "generation": 3, "not_before": "2026-01-01T00:00:00Z", "expires_at": "2027-01-01T00:00:00Z",
        "scopes": ["chat", "models", "POST /v1/audio/", "* /v1/embeddings"], "models": ["chat-*", "ü"],
        "class": "background", "limits": ["gold"], "revoked": true,
    }));
    let none = with(json!({"scopes": [], "models": [], "limits": []}));
    let keys = json!([full]);
    let mut polled = page(keys, json!(null)).unwrap().keys;
    polled.extend(page(json!([none]), json!(null)).unwrap().keys);
    polled.extend(page(json!([record(1)]), json!(null)).unwrap().keys);
    polled
}

#[test]
fn a_key_reads_as_it_was_written() {
    for polled in polled() {
        let bytes = polled.encode();
        let digest = polled.key.sha256;
        assert_eq!(PolledKey::decode(digest, &bytes), Some(polled));
        for cut in 0..bytes.len() {
            assert_eq!(PolledKey::decode(digest, &bytes[..cut]), None, "{cut}");
        }
        assert_eq!(
            PolledKey::decode(digest, &[&bytes[..], &[0]].concat()),
            None
        );
    }
}

#[test]
fn a_usual_key_takes_less_than_a_hundred_bytes() {
    let usual = json!({
        "id": "key-0000017", "tenant": "team-0042", "app": "chatbot",
        "models": ["chat-large", "chat-small"], "expires_at": "2027-01-01T00:00:00Z",
    });
    let polled = page(json!([with(usual)]), json!(null)).unwrap();
    let length = polled.keys[0].encode().len();
    assert!((60..100).contains(&length), "{length}");
}
