//! What a client may not say, and what nobody behind `auth` may read.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod support;

use dragoman_sdk::Action;
use dragoman_sdk::fake::FakeHost;
use support::{auth, exchange, get, post};

/// Names of the headers that are left after `auth`.
fn left(head: &[(&str, &str)]) -> Vec<String> {
    let mut it = exchange(&auth(), FakeHost::new(head));
    it.headers(true);
    let lines = it.host.request.unwrap();
    lines
        .into_iter()
        .map(|(name, _)| String::from_utf8(name).unwrap())
        .collect()
}

/// C28
const FORGED: [(&str, &str); 9] = [
    ("x-dragoman-identity", "tenant-a"),
    ("x-dragoman-identity", "admin"),
    ("x-dragoman-tenant", ""),
    ("x_dragoman_tenant", "admin"),
    ("x-dragoman-routed", "1"),
    ("x-dragoman-cluster", "workers"),
    ("x-gateway-destination-endpoint", "127.0.0.1:1"),
    ("x-envoy-max-retries", "9"),
    ("x-envoy-internal", "true"),
];

#[test]
fn what_only_the_gateway_may_set_is_removed_with_all_its_lines() {
    let mut lines = FORGED.to_vec();
    lines.extend([("x-api-key", "key-b"), ("x-note", "stays")]);
    let expected = [":method", ":path", "x-request-id", "x-note"];
    assert_eq!(left(&post("/v1/chat/completions", &lines)), expected);
}

#[test]
fn it_is_removed_where_nobody_has_to_be_known_and_where_nobody_is() {
    let expected = [":method", ":path", "x-request-id"];
    for path in ["/healthz", "/v1/models"] {
        assert_eq!(left(&get(path, &FORGED)), expected, "{path}");
    }
}

#[test]
fn no_later_filter_sees_a_credential() {
    let lines = [
        ("authorization", "Bearer key-b"),
        ("authorization", "Bearer key-b"),
        ("x-api-key", "key-b"),
        ("api-key", "key-b"),
        ("proxy-authorization", "Basic x"),
        ("accept", "*/*"),
    ];
    let expected = [":method", ":path", "x-request-id", "accept"];
    assert_eq!(left(&post("/v1/chat/completions", &lines)), expected);
    assert_eq!(left(&get("/readyz", &lines)), expected);
}

#[test]
fn forged_headers_make_nobody_of_somebody_else() {
    let mut lines = FORGED.to_vec();
    lines.extend([
        ("x-api-key", "key-b"),
        ("x-tenant-id", "team-a"),
        ("user", "team-a"),
    ]);
    let mut it = exchange(
        &auth(),
        FakeHost::new(&post("/v1/chat/completions", &lines)),
    );
    assert_eq!(it.headers(true), Action::Continue);
    assert_eq!(it.host.properties["dragoman.tenant"], b"team-b");
    assert_eq!(it.host.properties["dragoman.key"], b"k-b");
}
