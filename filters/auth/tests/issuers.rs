//! Tokens of issuers that publish their keys, which `poll` has read.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod support;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use dragoman_auth::Auth;
use dragoman_issuers::{Origin, Publish, publish, wanted};
use dragoman_sdk::Plugin;
use dragoman_sdk::fake::{FakeHost, SharedMap, root};
use dragoman_token::{KeptKeys, read_key_set};
use support::sign::{NOW, SECRET, base64url, claims, token};
use support::{exchange, get};

/// Key of RFC 8037, whose private half everybody knows.
const ED: &str = r#"{"keys":[{"kty":"OKP","kid":"ed","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
const OTHER: &str = r#"{"keys":[{"kty":"EC","kid":"p256","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#;

const CONFIG: &str = r#"{
  "version": 1, "workers": [], "endpoints": [], "tenants": [{"id": "team-a"}],
  "auth": {"issuers": [{"id": "corp", "issuer": "https://issuer.example", "audiences": ["dragoman"],
    "secrets": [{"env": "CORP_SECRET", "kid": "shared"}],
    "jwks_from": {"address": "127.0.0.1:9301", "path": "/jwks"}}]}
}"#;

/// One thread.
struct Thread {
    auth: Rc<Auth>,
    shared: SharedMap,
}

impl Thread {
    fn new() -> Self {
        let secret = String::from_utf8(SECRET.to_vec()).unwrap();
        let environment = BTreeMap::from([("CORP_SECRET".to_owned(), secret)]);
        Self {
            auth: Rc::new(Auth::configure(CONFIG.as_bytes(), &environment).unwrap()),
            shared: SharedMap::default(),
        }
    }

    fn host(&self, now_ms: u64) -> FakeHost {
        FakeHost {
            shared: Rc::clone(&self.shared),
            now: Duration::from_millis(NOW * 1000 + now_ms),
            ..FakeHost::default()
        }
    }

    /// A set comes into force, after this one.
    fn publish(&self, before: &str, set: &str) {
        let mut host = self.host(0);
        let read = |set: &str| read_key_set(set.as_bytes()).unwrap();
        let kept = KeptKeys::default().replaced_by(read(before), NOW, 600);
        let kept = kept.replaced_by(read(set), NOW, 600);
        let origin = Origin::of(&[
            "https://issuer.example",
            "127.0.0.1:9301 127.0.0.1:9301 /jwks",
        ]);
        let set = Publish {
            keys: &kept.encode(),
            etag: "",
            now_ms: 0,
        };
        assert!(publish(&mut root(&mut host), "corp", origin, &set).unwrap());
    }

    /// `admitted`, or the reason in the log, for a token that is shown so long after `NOW`.
    fn shown(&self, token: &str, now_ms: u64) -> String {
        let bearer = format!("Bearer {token}");
        let head = get("/v1/models", &[("authorization", &bearer)]);
        let host = FakeHost {
            shared: Rc::clone(&self.shared),
            now: Duration::from_millis(NOW * 1000 + now_ms),
            ..FakeHost::new(&head)
        };
        let mut it = exchange(&self.auth, host);
        it.headers(true);
        match &it.host.replied {
            None => "admitted".to_owned(),
            Some(_) => {
                String::from_utf8_lossy(&it.host.properties["dragoman.refusal"]).into_owned()
            }
        }
    }

    /// When somebody last asked for a reading, since `NOW`.
    fn wanted_ms(&self) -> Option<u64> {
        let wanted = wanted(&mut root(&mut self.host(0)), "corp").unwrap()?;
        Some(wanted - NOW * 1000)
    }
}

/// A token under this key id that nobody signed well.
fn forged(algorithm: &str, kid: &str) -> String {
    let header = format!(r#"{{"alg":"{algorithm}","kid":"{kid}"}}"#);
    let part = |text: &str| base64url(text.as_bytes());
    format!(
        "{}.{}.{}",
        part(&header),
        part(&claims(&[])),
        base64url(&[7; 64])
    )
}

#[test]
fn before_the_first_set_nobody_knows_whether_a_key_is_good() {
    let thread = Thread::new();
    assert_eq!(thread.shown(&forged("EdDSA", "ed"), 0), "not_ready");
    assert_eq!(
        thread.shown(&token(&claims(&[])), 0),
        "admitted",
        "by the document's own secret"
    );
    let late = claims(&[("exp", "1799999401")]);
    assert_eq!(thread.shown(&token(&late), 0), "token.expired");
    assert_eq!(thread.wanted_ms(), None, "it is asked for anyway");

    thread.publish(ED, ED);
    assert_eq!(thread.shown(&forged("EdDSA", "ed"), 1), "token.signature");
    assert_eq!(thread.shown(&forged("EdDSA", "x"), 1), "token.unknown_key");
}

#[test]
fn an_unknown_key_id_leaves_a_mark_once_a_second() {
    let thread = Thread::new();
    thread.publish(ED, ED);
    for (kid, now_ms, expected) in [
        ("ed", 0, None),
        ("x", 10, Some(10)),
        ("y", 1009, Some(10)),
        ("z", 1010, Some(1010)),
        ("shared", 5000, Some(1010)),
    ] {
        thread.shown(&forged("EdDSA", kid), now_ms);
        assert_eq!(thread.wanted_ms(), expected, "{kid}");
    }
    // One that is not for us does not make us ask.
    let foreign = base64url(claims(&[("aud", "\"x\"")]).as_bytes());
    let header = base64url(br#"{"alg":"EdDSA","kid":"x"}"#);
    thread.shown(&format!("{header}.{foreign}.AAAA"), 9000);
    assert_eq!(thread.wanted_ms(), Some(1010));
}

#[test]
fn another_set_is_seen_within_a_second_and_judges_anew() {
    let thread = Thread::new();
    thread.publish(ED, ED);
    let bad = forged("EdDSA", "ed");
    assert_eq!(thread.shown(&bad, 0), "token.signature");
    assert_eq!(
        thread.shown(&forged("ES256", "p256"), 0),
        "token.unknown_key"
    );

    thread.publish(ED, OTHER);
    assert_eq!(
        thread.shown(&forged("ES256", "p256"), 999),
        "token.unknown_key"
    );
    assert_eq!(
        thread.shown(&forged("ES256", "p256"), 1000),
        "token.signature"
    );
    // The key that left is good for the overlap, and then nobody knows it.
    assert_eq!(thread.shown(&bad, 1000), "token.signature");
    assert_eq!(thread.shown(&bad, 599_999), "token.signature");
    let later = forged("EdDSA", "ed");
    thread.publish(OTHER, OTHER);
    assert_eq!(thread.shown(&later, 600_999), "token.unknown_key");
}

#[test]
fn what_cannot_be_read_leaves_the_keys_that_were_there() {
    let thread = Thread::new();
    thread.publish(ED, ED);
    assert_eq!(thread.shown(&forged("EdDSA", "ed"), 0), "token.signature");
    let origin = Origin::of(&[
        "https://issuer.example",
        "127.0.0.1:9301 127.0.0.1:9301 /jwks",
    ]);
    let set = Publish {
        keys: b"{}",
        etag: "",
        now_ms: 0,
    };
    assert!(publish(&mut root(&mut thread.host(0)), "corp", origin, &set).unwrap());
    assert_eq!(
        thread.shown(&forged("EdDSA", "ed"), 2000),
        "token.signature"
    );
}
