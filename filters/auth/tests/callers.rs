//! Who comes in: whole request heads through `auth` on the fake host.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod support;

use dragoman_contract::Identity;
use dragoman_sdk::Action;
use dragoman_sdk::fake::FakeHost;
use support::{KEY_A, KEY_B, KEY_OLD, KEY_SLEEPING, asked, auth, exchange, get, post};

#[test]
fn a_known_key_becomes_an_identity() {
    let mut it = asked(&post(
        "/v1/chat/completions",
        &[("authorization", "Bearer key-a")],
    ));
    assert_eq!(it.host.replied, None);
    let published = it.host.properties["dragoman.identity"].clone();
    assert_eq!(
        Identity::decode(&published),
        Some(Identity {
            key: "k-a",
            tenant: "team-a",
            app: "chatbot",
            key_models: Some(vec!["chat-*"]),
            tenant_models: Some(vec!["chat-*", "embed"]),
            ..Identity::default()
        })
    );
    for (name, value) in [("tenant", "team-a"), ("app", "chatbot"), ("key", "k-a")] {
        let published = it.host.properties.remove(&format!("dragoman.{name}"));
        assert_eq!(published, Some(value.as_bytes().to_vec()), "{name}");
    }
}

#[test]
fn a_key_may_be_shown_in_any_of_three_headers() {
    for (name, value) in [
        ("authorization", "Bearer key-b"),
        ("authorization", "bearer   key-b"),
        ("x-api-key", "key-b"),
        ("api-key", "key-b"),
    ] {
        let it = asked(&post("/v1/chat/completions", &[(name, value)]));
        assert_eq!(it.host.replied, None, "{name}: {value}");
        assert_eq!(it.host.properties["dragoman.tenant"], b"team-b");
    }
}

/// Header lines.
type Shown<'a> = &'a [(&'a str, &'a str)];

/// The table of the security review: what is shown, and what is answered.
#[test]
fn whoever_is_not_known_is_refused() {
    let table: [(Shown<'_>, u16, &str); 19] = [
        (&[], 401, "missing_credential"),
        (&[("authorization", "")], 401, "missing_credential"),
        (&[("authorization", "Bearer ")], 401, "missing_credential"),
        (
            &[("proxy-authorization", "Bearer key-a")],
            401,
            "missing_credential",
        ),
        (
            &[("cookie", "authorization=Bearer key-a")],
            401,
            "missing_credential",
        ),
        (
            &[("x-dragoman-identity", "team-a")],
            401,
            "missing_credential",
        ),
        (
            &[("authorization", "Bearer nobody")],
            401,
            "invalid_credential",
        ),
        (
            &[("authorization", "Bearer KEY-A")],
            401,
            "invalid_credential",
        ),
        (
            &[("authorization", "Bearer key-a,")],
            401,
            "invalid_credential",
        ),
        (
            &[("authorization", "Bearer \"key-a\"")],
            401,
            "invalid_credential",
        ),
        (
            &[("authorization", "Bearer\tkey-a")],
            401,
            "invalid_credential",
        ),
        (
            &[("authorization", "Basic key-a")],
            401,
            "invalid_credential",
        ),
        (
            &[("authorization", "Bearerkey-a")],
            401,
            "invalid_credential",
        ),
        (&[("authorization", "key-a")], 401, "invalid_credential"),
        (&[("x-api-key", "Bearer key-a")], 401, "invalid_credential"),
        // The digest is in the configuration; it opens nothing.
        (
            &[("x-api-key", &support::hex(KEY_A))],
            401,
            "invalid_credential",
        ),
        (
            &[("x-api-key", KEY_A), ("api-key", KEY_B)],
            401,
            "ambiguous_credential",
        ),
        (
            &[("authorization", "Basic x"), ("x-api-key", KEY_A)],
            401,
            "ambiguous_credential",
        ),
        (&[("x-api-key", KEY_SLEEPING)], 403, "tenant_inactive"),
    ];
    for (shown, status, code) in table {
        let it = asked(&post("/v1/chat/completions", shown));
        let replied = it.host.replied.unwrap();
        let text = replied.text();
        assert_eq!(replied.status, status, "{shown:?}: {text}");
        assert!(
            text.contains(&format!("\"code\":\"{code}\"")),
            "{shown:?}: {text}"
        );
        let scheme = replied.header("www-authenticate");
        assert_eq!(
            scheme.as_deref(),
            (status == 401).then_some("Bearer"),
            "{shown:?}"
        );
        assert_eq!(
            it.host.properties.get("dragoman.identity"),
            None,
            "{shown:?}"
        );
        assert!(!text.contains("key-"), "an answer repeats no key: {text}");
        assert_eq!(it.host.logged, [] as [String; 0], "{shown:?}");
    }
}

#[test]
fn bytes_that_are_no_text_are_a_wrong_key() {
    for value in [b"Bearer \xff\xfe".as_slice(), b"\x80", b"Bearer \xf0\x9f"] {
        let mut host = FakeHost::new(&post("/v1/chat/completions", &[]));
        let lines = host.request.as_mut().unwrap();
        lines.push((b"authorization".to_vec(), value.to_vec()));
        lines.push((b"x-n\xc3".to_vec(), vec![0xff]));
        let mut it = exchange(&auth(), host);
        assert_eq!(it.headers(false), Action::Pause);
        assert_eq!(it.host.replied.unwrap().status, 401);
    }
}

#[test]
fn a_key_is_valid_until_the_second_in_which_it_expires() {
    // 2026-01-01T00:00:00Z
    const END_S: u64 = 1_767_225_600;
    for (now_s, accepted) in [(END_S - 1, true), (END_S, false), (END_S + 1, false)] {
        let mut host = FakeHost::new(&get("/v1/models", &[("api-key", KEY_OLD)]));
        host.now = std::time::Duration::from_secs(now_s);
        let mut it = exchange(&auth(), host);
        let action = it.headers(true);
        if accepted {
            assert_eq!((action, it.host.replied), (Action::Continue, None));
        } else {
            let replied = it.host.replied.unwrap();
            assert!(
                replied.text().contains("invalid_credential"),
                "{}",
                replied.text()
            );
            assert_eq!(
                it.host.properties["dragoman.key"], b"k-old",
                "the log names it"
            );
        }
    }
}

#[test]
fn no_path_can_be_told_from_another_without_a_credential() {
    let paths = [
        "/",
        "/v1/models",
        "/v1/models/chat-a",
        "/metrics",
        "/healthz/",
        "/healthz?x",
        "/healthz/..",
        "//healthz",
        "/Healthz",
        "/%68ealthz",
        "/healthz;a",
        "*",
        "",
        // C32, as a server that does not normalise would hand them over
        "/health/../v1/chat/completions",
        "//v1/chat/completions",
        "/v1/%63hat/completions",
        "/v1%2Fchat/completions",
        "/v1/chat/completions;a=b",
        "/health;%2fv1/chat/completions",
        "/V1/chat/completions",
        "/healthz/../v1/chat/completions",
        "/healthz%2f..%2fv1/models",
    ];
    for path in paths {
        for method in ["GET", "POST", "HEAD", "OPTIONS", "CONNECT", "get"] {
            let it = asked(&[(":method", method), (":path", path)]);
            let replied = it.host.replied.unwrap();
            assert_eq!(replied.status, 401, "{method} {path}");
            assert!(
                replied.text().contains("missing_credential"),
                "{method} {path}"
            );
        }
    }
}

#[test]
fn health_is_answered_without_a_credential_under_two_exact_names() {
    for path in ["/healthz", "/readyz"] {
        for shown in [&[][..], &[("authorization", "Bearer nobody")]] {
            let it = asked(&get(path, shown));
            let replied = it.host.replied.unwrap();
            assert_eq!(
                (replied.status, &*replied.text()),
                (200, r#"{"status":"ok"}"#)
            );
            let of_json = replied.header("content-type");
            assert_eq!(of_json.as_deref(), Some("application/json"));
            assert_eq!(it.host.properties.get("dragoman.identity"), None);
        }
    }
    for (method, path) in [
        ("POST", "/healthz"),
        ("HEAD", "/healthz"),
        ("GET", "/healthz?a"),
    ] {
        let it = asked(&[(":method", method), (":path", path)]);
        assert_eq!(it.host.replied.unwrap().status, 401, "{method} {path}");
    }
}

#[test]
fn anthropic_clients_are_refused_in_their_own_shape() {
    for path in [
        "/v1/messages",
        "/v1/messages?beta=true",
        "/v1/messages/count_tokens",
    ] {
        let text = asked(&post(path, &[])).host.replied.unwrap().text();
        let shape = r#"{"type":"error","error":{"type":"authentication_error""#;
        assert!(text.starts_with(shape), "{path}: {text}");
    }
}

#[test]
fn with_auth_off_everybody_passes_and_nobody_is_named() {
    let config = support::CONFIG.replace(r#""mode": "on""#, r#""mode": "off""#);
    for shown in [&[][..], &[("authorization", "Bearer key-a")]] {
        let host = FakeHost::new(&post("/v1/chat/completions", shown));
        let mut it = exchange(&support::configured(&config), host);
        assert_eq!(it.headers(false), Action::Continue);
        assert!(it.host.properties.is_empty(), "{:?}", it.host.properties);
    }
}
