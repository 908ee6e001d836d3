//! What keys, tenants and endpoints say of who may reach what: taken and refused.

#![allow(clippy::panic, reason = "a helper of tests may fail the test")]

mod support;

use std::fmt::Write;

use dragoman_config::{Gateway, MAX_GENERATION};
use dragoman_contract::{Class, PathScope, Scope};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn document(sections: &str) -> String {
    format!(r#"{{"version":1,"workers":[],{sections}}}"#)
}

fn good(sections: &str) -> Gateway {
    support::good(&document(sections))
}

fn refusal(sections: &str) -> String {
    support::refusal(&document(sections))
}

/// A document with these keys of tenant `t`, each given by its further fields.
fn keys(keys: &[&str]) -> String {
    let mut all = String::new();
    for (index, more) in keys.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(
            all,
            r#"{comma}{{"id":"k{index}","sha256":"{index:064x}","tenant":"t","app":"a"{more}}}"#
        );
    }
    format!(
        r#""endpoints":[],"limits":[{{"name":"gold","by":["key"],"rate":{{"per_second":1,"burst":1}}}}],
           "tenants":[{{"id":"t"}}],"auth":{{"keys":[{all}]}}"#
    )
}

#[test]
fn a_key_is_for_what_its_scopes_name() {
    let gateway = good(&keys(&[
        r#","scopes":["chat","POST /v1/audio/","* /v1/models"],"class":"background","limits":["gold"]"#,
        "",
        r#","scopes":[],"limits":[]"#,
    ]));
    let [named, usual, none] = &gateway.auth.keys[..] else {
        panic!("three keys");
    };
    let path = |method: Option<&str>, path: &str| PathScope {
        method: method.map(str::to_owned),
        path: path.to_owned(),
    };
    assert_eq!(
        named.grant.scopes.kinds().collect::<Vec<_>>(),
        [Scope::Chat]
    );
    assert_eq!(
        named.grant.scopes.paths(),
        [path(Some("POST"), "/v1/audio/"), path(None, "/v1/models")]
    );
    assert_eq!(named.grant.class, Class::Background);
    assert_eq!(
        named.grant.limits.as_deref(),
        Some(&["gold".to_owned()][..])
    );
    assert_eq!(usual.grant.scopes.kinds().count(), Scope::ALL.len() - 1);
    assert!(!usual.grant.scopes.has(Scope::Admin));
    assert_eq!(
        (usual.grant.class, &usual.grant.limits),
        (Class::Interactive, &None)
    );
    assert_eq!(none.grant.scopes.kinds().count(), 0);
    assert_eq!(none.grant.limits.as_deref(), Some(&[][..]));
}

#[test]
fn what_is_no_scope_no_class_and_no_limit_is_refused_with_its_place() {
    let words =
        "chat, completions, embeddings, responses, messages, images, audio, videos, models, admin";
    let no_word =
        format!(r#"must be one of {words}, or a method and a path such as "POST /v1/audio/""#);
    let no_path = "must go on with the beginning of a path as Envoy normalises it: no query, no percent sign, no dot segment, no two slashes in a row";
    let table = [
        (
            r#""scopes":"chat""#,
            r#"scopes: "chat": must be a list"#.to_owned(),
        ),
        (
            r#""scopes":["Chat"]"#,
            format!(r#"scopes[0]: "Chat": {no_word}"#),
        ),
        (
            r#""scopes":["chat",""]"#,
            format!(r#"scopes[1]: "": {no_word}"#),
        ),
        (
            r#""scopes":["chat","chat"]"#,
            "scopes[1]: is given twice, or is one path more than 16".to_owned(),
        ),
        (
            r#""scopes":["GET /a","GET /a"]"#,
            "scopes[1]: is given twice, or is one path more than 16".to_owned(),
        ),
        (
            r#""scopes":["get /a"]"#,
            r#"scopes[0]: "get /a": must begin with a method in capital letters, or * for any"#
                .to_owned(),
        ),
        (
            r#""scopes":["GET a"]"#,
            format!(r#"scopes[0]: "GET a": {no_path}"#),
        ),
        (
            r#""scopes":["GET /a?b"]"#,
            format!(r#"scopes[0]: "GET /a?b": {no_path}"#),
        ),
        (
            r#""scopes":["GET /a%2fb"]"#,
            format!(r#"scopes[0]: "GET /a%2fb": {no_path}"#),
        ),
        (
            r#""scopes":["GET /a/../b"]"#,
            format!(r#"scopes[0]: "GET /a/../b": {no_path}"#),
        ),
        (
            r#""scopes":["GET //a"]"#,
            format!(r#"scopes[0]: "GET //a": {no_path}"#),
        ),
        (
            r#""class":"urgent""#,
            r#"class: "urgent": must be one of interactive, background"#.to_owned(),
        ),
        (
            r#""limits":["silver"]"#,
            r#"limits[0]: "silver": is no limit of this document"#.to_owned(),
        ),
        (
            r#""limits":["gold","gold"]"#,
            r#"limits[1]: "gold": is given twice"#.to_owned(),
        ),
        (
            r#""generation":0"#,
            "generation: 0: must be at least 1".to_owned(),
        ),
    ];
    for (given, expected) in table {
        // Values among keys may be keys in the wrong place, so most are not shown.
        let shown = refusal(&keys(&[&format!(",{given}")]));
        let bare = without_value(&expected);
        let [expected, bare] = [&expected, &bare].map(|text| format!("auth.keys[0].{text}"));
        assert!(shown == expected || shown == bare, "{given}: {shown}");
    }
}

/// `path: value: reason` as `path: reason`.
fn without_value(fault: &str) -> String {
    let parts: Vec<&str> = fault.splitn(3, ": ").collect();
    match parts[..] {
        [path, _, reason] => format!("{path}: {reason}"),
        _ => fault.to_owned(),
    }
}

#[test]
fn of_an_application_two_generations_may_be_valid_at_one_time() {
    const LONG: &str = r#","generation":1,"expires_at":"2027-06-01T00:00:00Z""#;
    let second = r#","generation":2,"not_before":"2027-01-01T00:00:00Z""#;
    let third_later = r#","generation":3,"not_before":"2027-06-01T00:00:00Z""#;
    let third_early = r#","generation":3,"not_before":"2027-05-31T23:59:59Z""#;
    let largest = format!(r#","generation":{MAX_GENERATION}"#);
    for taken in [
        &[LONG, second][..],
        &[LONG, LONG, second, second],
        &[third_later, second, LONG],
        &["", "", "", ""],
        &[&largest],
    ] {
        good(&keys(taken));
    }
    let too_many = "is one generation of t/a more than 2 that are valid at one time: let an older one expire before";
    assert_eq!(
        refusal(&keys(&[LONG, second, third_early])),
        format!("auth.keys[2].generation: {too_many}")
    );
    // A generation lasts as long as the last of its keys.
    let short = r#","generation":1,"expires_at":"2027-02-01T00:00:00Z""#;
    assert_eq!(
        refusal(&keys(&[third_early, second, LONG, short])),
        format!("auth.keys[0].generation: {too_many}")
    );
}

#[test]
fn a_key_begins_before_it_ends() {
    let gateway = good(&keys(&[
        r#","not_before":"1970-01-01T00:00:09Z","expires_at":null"#,
    ]));
    assert_eq!(gateway.auth.keys[0].not_before, Some(9));
    let same = r#","not_before":"2027-01-01T00:00:00Z","expires_at":"2027-01-01T00:00:00Z""#;
    assert_eq!(
        refusal(&keys(&[same])),
        "auth.keys[0].not_before: must lie before expires_at"
    );
}

fn hosts(hosts: &str) -> String {
    format!(
        r#""endpoints":[],"tenants":[{{"id":"t"}},{{"id":"u","hosts":["u.example","*.u.example"]}},{{"id":"v","hosts":[{hosts}]}}]"#
    )
}

#[test]
fn a_host_names_its_tenant_however_it_is_written() {
    let gateway = good(&hosts(
        r#""v.example","*.deep.u.example","xn--bcher-kva.example""#,
    ));
    let (u, v) = (Some(1), Some(2));
    for (authority, expected) in [
        ("u.example", u),
        ("U.Example", u),
        ("u.example:8443", u),
        ("u.example.", u),
        ("U.EXAMPLE.:80", u),
        ("a.u.example", u),
        ("a.b.u.example", u),
        ("a.deep.u.example", v),
        ("deep.u.example", u),
        ("v.example", v),
        ("xn--bcher-kva.example", v),
        ("a.v.example", None),
        (".u.example", None),
        ("u.example..", None),
        ("xu.example", None),
        ("u.example.evil", None),
        ("u.example:80:80", None),
        ("u.example:x", None),
        ("u.example, v.example", None),
        ("[::1]:80", None),
        ("[::1]", None),
        ("", None),
        (":80", None),
        (".", None),
        ("\u{212a}.example", None),
    ] {
        assert_eq!(
            gateway.hosts.tenant(authority.as_bytes()),
            expected,
            "{authority}"
        );
    }
    assert_eq!(gateway.hosts.tenant(b"u.example\xff"), None);
    assert!(
        good(r#""endpoints":[],"tenants":[{"id":"t"}]"#)
            .hosts
            .is_empty()
    );
}

#[test]
fn a_host_has_its_form_and_one_owner() {
    let form = "must be a host name in lower case without port, or *. and one";
    for host in [
        "",
        "V.example",
        "v.example:80",
        "v.example.",
        "*",
        "*.",
        "a.*.b",
        "-v.example",
        "v_.example",
        "http://v",
    ] {
        assert_eq!(
            refusal(&hosts(&format!("\"{host}\""))),
            format!(r#"tenants[2].hosts[0]: "{host}": {form}"#)
        );
    }
    for host in ["u.example", "*.u.example"] {
        assert_eq!(
            refusal(&hosts(&format!("\"w.example\",\"{host}\""))),
            format!(
                r#"tenants[2].hosts[1]: "{host}": is the host of another tenant or given twice"#
            )
        );
    }
    let many = vec!["\"w.example\""; 17].join(",");
    assert_eq!(
        refusal(&hosts(&many)),
        "tenants[2].hosts: has 17 items: must have at most 16"
    );
}

#[test]
fn an_endpoint_is_public_unless_it_says_otherwise() {
    let endpoint = |more: &str| format!(r#""endpoints":[{{"name":"e","targets":[]{more}}}]"#);
    for (more, expected) in [
        ("", false),
        (r#","visibility":"public""#, false),
        (r#","visibility":"private""#, true),
    ] {
        assert_eq!(good(&endpoint(more)).endpoints[0].is_private, expected);
    }
    assert_eq!(
        refusal(&endpoint(r#","visibility":"hidden""#)),
        r#"endpoints[0].visibility: "hidden": must be one of public, private"#
    );
}

#[test]
fn an_internal_listener_has_an_address_or_is_not_there() {
    let listeners = |listeners: &str| format!(r#""endpoints":[],"listeners":{listeners}"#);
    assert_eq!(good(r#""endpoints":[]"#).internal_listener, None);
    assert_eq!(good(&listeners("{}")).internal_listener, None);
    let given = good(&listeners(r#"{"internal":"127.0.0.1:10001"}"#));
    assert_eq!(given.internal_listener.unwrap().port(), 10_001);
    assert_eq!(
        refusal(&listeners(r#"{"internal":"localhost:1"}"#)),
        r#"listeners.internal: "localhost:1": must be an IP address and a port"#
    );
    assert_eq!(
        refusal(&listeners(r#"{"public":"127.0.0.1:1"}"#)),
        "listeners.public: unknown field"
    );
}
