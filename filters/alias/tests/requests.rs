//! Whole requests through `alias` on the fake host.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::collections::BTreeMap;
use std::rc::Rc;

use dragoman_alias::Alias;
use dragoman_contract::{ApiKind, Class, Identity, RequestRecord};
use dragoman_sdk::fake::{Exchange, FakeHost, Replied};
use dragoman_sdk::{Action, Filter, Plugin};
use sha2::{Digest, Sha256};

const CONFIG: &str = r#"{
  "version": 1, "max_body_bytes": 1024, "auth": {"mode": "off"},
  "endpoints": [{"name": "chat-standard", "slug": "chat", "version": "v3", "mode": "weighted", "timeout_ms": 900, "max_attempts": 2,
    "targets": [{"worker": "w1", "served_model_name": "large", "weight": 80},
                {"worker": "w2", "served_model_name": "medium", "weight": 20, "enabled": false}]}],
  "workers": [{"id": "w1", "address": "127.0.0.1:9101"}, {"id": "w2", "address": "127.0.0.1:9102"}]
}"#;

fn alias(config: &str) -> Rc<Alias> {
    Rc::new(Alias::configure(config.as_bytes(), &BTreeMap::new()).unwrap())
}

fn exchange(headers: &[(&str, &str)]) -> Exchange<impl Filter> {
    Exchange::new(&alias(CONFIG), FakeHost::new(headers))
}

fn post(path: &str) -> Vec<(&str, &str)> {
    vec![(":method", "POST"), (":path", path), ("x-request-id", "r1")]
}

fn refused(body: &[u8]) -> Replied {
    let mut it = exchange(&post("/v1/chat/completions"));
    assert_eq!(it.request(body), Action::Pause);
    it.host.replied.unwrap()
}

#[test]
fn a_model_becomes_its_endpoint_and_version() {
    let body = br#"{"messages":[],"model":"chat","stream":true,"max_tokens":7}"#;
    let mut it = exchange(&post("/v1/chat/completions?api-version=1"));
    assert_eq!(it.request(body), Action::Continue);
    let published = it.host.properties["dragoman.request"].clone();
    let expected = RequestRecord {
        api: ApiKind::Chat,
        stream: true,
        body_len: 59,
        model_start: 23,
        model_end: 29,
        max_tokens: 7,
        endpoint: "chat-standard",
        version: "v3",
        tenant: "",
        app: "",
        class: Class::Interactive,
        tools: false,
        body_sha256: None,
    };
    assert_eq!(RequestRecord::decode(&published), Some(expected));
    assert_eq!(it.host.properties["dragoman.endpoint"], b"chat-standard");
    assert_eq!(it.host.properties["dragoman.version"], b"v3");
}

#[test]
fn a_body_in_pieces_is_read_once_and_whole() {
    let body = br#"{"model":"chat"}"#;
    for cut in 0..=body.len() {
        let mut it = exchange(&post("/v1/chat/completions"));
        it.headers(false);
        assert_eq!(it.data(&body[..cut], false), Action::Pause);
        assert_eq!(
            it.data(&body[cut..], true),
            Action::Continue,
            "cut at {cut}"
        );
        let record = it.host.properties["dragoman.request"].clone();
        assert_eq!(RequestRecord::decode(&record).unwrap().body_len, 16);
    }
}

#[test]
fn a_body_that_cannot_be_trusted_is_refused_with_the_reason() {
    let table: [(&[u8], u16, &str); 9] = [
        (b"", 400, "invalid_json"),
        (b"[]", 400, "invalid_json"),
        (b"{\"model\":\"chat\"", 400, "invalid_json"),
        (b"\xEF\xBB\xBF{\"model\":\"chat\"}", 400, "invalid_json"),
        (
            b"{\"model\":\"chat\",\"model\":\"chat\"}",
            400,
            "duplicate_field",
        ),
        (
            b"{\"mod\\u0065l\":\"chat\",\"model\":\"chat\"}",
            400,
            "duplicate_field",
        ),
        (b"{\"messages\":[]}", 400, "missing_model"),
        (b"{\"model\":7}", 400, "invalid_field"),
        (b"{\"model\":\"chat\\u0000\"}", 404, "model_not_found"),
    ];
    for (body, status, code) in table {
        let replied = refused(body);
        let text = replied.text();
        assert_eq!(replied.status, status, "{text}");
        assert!(text.contains(&format!("\"code\":\"{code}\"")), "{text}");
        assert!(text.contains("\"request_id\":\"r1\""), "{text}");
        assert_eq!(
            replied.header("content-type").as_deref(),
            Some("application/json")
        );
    }
}

#[test]
fn a_refusal_does_not_repeat_what_the_client_sent() {
    for body in [
        br#"{"model":"secret-name"}"#.as_slice(),
        br#"{"model":"secret-name" secret"#,
    ] {
        assert!(
            !refused(body).text().contains("secret"),
            "{}",
            refused(body).text()
        );
    }
}

#[test]
fn a_body_over_the_limit_is_refused_by_its_length_or_by_its_bytes() {
    let mut headers = post("/v1/chat/completions");
    headers.push(("content-length", "1025"));
    let mut it = exchange(&headers);
    assert_eq!(it.headers(false), Action::Pause);
    assert_eq!(it.host.replied.as_ref().unwrap().status, 413);

    let body = format!(
        "{{\"model\":\"chat\",\"pad\":\"{}\"}}",
        "x".repeat(1024 - 25)
    );
    assert_eq!(body.len(), 1024);
    let mut it = exchange(&post("/v1/chat/completions"));
    assert_eq!(it.request(body.as_bytes()), Action::Continue);
    let replied = refused(format!("{body} ").as_bytes());
    assert_eq!(replied.status, 413);
    assert!(replied.text().contains("1024 bytes"), "{}", replied.text());
}

#[test]
fn a_compressed_body_is_refused_before_it_comes() {
    let mut headers = post("/v1/chat/completions");
    headers.push(("content-encoding", "gzip"));
    let mut it = exchange(&headers);
    assert_eq!(it.headers(false), Action::Pause);
    assert_eq!(it.host.replied.unwrap().status, 415);
}

#[test]
fn an_unknown_path_is_refused_without_waiting_for_a_body() {
    for (method, path) in [
        ("POST", "/v1/chat/completions/"),
        ("GET", "/"),
        ("DELETE", "/v1/files/x"),
    ] {
        let mut it = exchange(&[(":method", method), (":path", path)]);
        assert_eq!(it.headers(false), Action::Pause);
        assert_eq!(it.host.replied.unwrap().status, 404, "{method} {path}");
    }
}

#[test]
fn anthropic_clients_get_errors_in_their_own_shape() {
    let mut it = exchange(&post("/v1/messages"));
    it.request(br#"{"model":"nobody"}"#);
    let text = it.host.replied.unwrap().text();
    assert!(
        text.starts_with(r#"{"type":"error","error":{"type":"not_found_error""#),
        "{text}"
    );
}

#[test]
fn who_calls_what_for_and_with_what_is_in_the_record() {
    let identity = Identity {
        key: "k1",
        tenant: "team-a",
        app: "chatbot",
        ..Identity::default()
    };
    let record = |asked: &[(&str, &str)], body: &[u8]| {
        let headers = [&post("/v1/chat/completions"), asked].concat();
        let known = CONFIG.replace("\"off\"", "\"on\"");
        let mut it = Exchange::new(&alias(&known), FakeHost::new(&headers));
        it.host
            .properties
            .insert("dragoman.identity".into(), identity.encode());
        it.request(body);
        it.host.properties["dragoman.request"].clone()
    };
    let plain = record(&[], br#"{"model":"chat","tools":null}"#);
    let plain = RequestRecord::decode(&plain).unwrap();
    assert_eq!((plain.tenant, plain.app), ("team-a", "chatbot"));
    assert_eq!((plain.class, plain.tools), (Class::Interactive, false));
    let batch = record(
        &[("x-work-class", "batch")],
        br#"{"model":"chat","tools":[{"type":"function"}]}"#,
    );
    let batch = RequestRecord::decode(&batch).unwrap();
    assert_eq!((batch.class, batch.tools), (Class::Background, true));
}

#[test]
fn the_model_list_and_a_model_are_answered_here() {
    let get = |path: &str| {
        let mut it = exchange(&[(":method", "GET"), (":path", path)]);
        assert_eq!(it.headers(true), Action::Pause);
        it.host.replied.unwrap()
    };
    let model = r#"{"id":"chat","object":"model","created":0,"owned_by":"gateway"}"#;
    assert_eq!(
        get("/v1/models").text(),
        format!(r#"{{"object":"list","data":[{model}]}}"#)
    );
    assert_eq!(get("/v1/models/ch%61t").text(), model);
    assert_eq!(get("/v1/models/chat-standard").status, 404);
    assert_eq!(get("/v1/models/%ff").status, 404);
}

#[test]
fn internal_headers_of_a_client_are_removed_with_all_their_lines() {
    let mut headers = post("/v1/chat/completions");
    headers.extend([
        ("x-dragoman-routed", "1"),
        ("x-dragoman-cluster", "a"),
        ("x-dragoman-cluster", "b"),
        ("x-dragoman-anything", "x"),
        ("x-gateway-destination-endpoint", "10.0.0.1:80"),
        ("x-envoy-max-retries", "9"),
        ("x_dragoman_routed", "1"),
        ("x-note", "stays"),
    ]);
    let mut it = exchange(&headers);
    it.request(br#"{"model":"chat"}"#);
    let left: Vec<String> = it
        .host
        .request
        .unwrap()
        .into_iter()
        .map(|(name, _)| String::from_utf8(name).unwrap())
        .collect();
    assert_eq!(left, [":method", ":path", "x-request-id", "x-note"]);
}

#[test]
fn a_faulty_configuration_is_refused_with_its_path() {
    let config = CONFIG.replace("80", "-1");
    let error = Alias::configure(config.as_bytes(), &BTreeMap::new()).unwrap_err();
    assert!(
        error.starts_with("endpoints[0].targets[0].weight: -1:"),
        "{error}"
    );
}

/// The digest that the record carries for a request with these header lines.
fn digest(config: &str, lines: &[(&'static str, &'static str)]) -> Option<[u8; 32]> {
    let mut headers = post("/v1/chat/completions");
    headers.extend(lines);
    let mut it = Exchange::new(&alias(config), FakeHost::new(&headers));
    assert_eq!(it.request(br#"{"model":"chat"}"#), Action::Continue);
    let record = it.host.properties["dragoman.request"].clone();
    RequestRecord::decode(&record).unwrap().body_sha256
}

#[test]
fn a_body_is_digested_only_where_its_idempotency_key_counts() {
    let config = CONFIG.replace("\"auth\"", "\"idempotency\": {}, \"auth\"");
    let with_key = [("idempotency-key", "k")];
    let expected: [u8; 32] = Sha256::digest(br#"{"model":"chat"}"#).into();
    assert_eq!(digest(&config, &with_key), Some(expected));
    assert_eq!(digest(&config, &[]), None);
    assert_eq!(digest(CONFIG, &with_key), None);
}
