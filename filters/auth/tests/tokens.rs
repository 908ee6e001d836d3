//! Signed tokens as credentials: whole request heads through `auth` on the fake host.
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
use dragoman_config::{MAX_LEEWAY_S, MAX_TOKEN_LIFETIME_S};
use dragoman_contract::Identity;
use dragoman_sdk::fake::{Exchange, FakeHost};
use dragoman_sdk::{Filter, Plugin};
use support::sign::{NOW, SECRET, claims, token};
use support::{KEY_A, exchange, get, hex, post};

/// Keys of RFC 7515 (A.3) and RFC 8037, whose private halves everybody knows.
const JWKS: &str = r#"{"keys": [
  {"kty": "EC", "kid": "p256", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"},
  {"kty": "OKP", "kid": "ed", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;

/// `{issuer}` stands for further fields of the issuer.
const CONFIG: &str = r#"{
  "version": 1, "workers": [], "endpoints": [],
  "limits": [{"name": "gold", "by": ["key"], "rate": {"per_second": 1, "burst": 1}}],
  "tenants": [{"id": "team-a", "models": ["chat-*"]}, {"id": "team-b"}, {"id": "team-c", "status": "suspended"}],
  "auth": {"max_uploads": 2, "keys": [{"id": "k-a", "sha256": "{key-a}", "tenant": "team-a", "app": "chatbot"}],
    "issuers": [{"id": "corp", "issuer": "https://issuer.example", "audiences": ["dragoman"],
      "secrets": [{"env": "CORP_SECRET", "kid": "shared"}]{issuer}}]}
}"#;

/// Names and values: of claims, or of environment variables.
type Changes<'a> = &'a [(&'a str, &'a str)];

fn configure(issuer: &str, variables: &[(&str, &str)]) -> Result<Auth, String> {
    let config = CONFIG
        .replace("{issuer}", issuer)
        .replace("{key-a}", &hex(KEY_A));
    let variables: BTreeMap<String, String> = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Auth::configure(config.as_bytes(), &variables)
}

fn auth_with(issuer: &str) -> Rc<Auth> {
    let secret = String::from_utf8(SECRET.to_vec()).unwrap();
    Rc::new(configure(issuer, &[("CORP_SECRET", &secret)]).unwrap())
}

fn auth() -> Rc<Auth> {
    auth_with("")
}

/// A chat with this token at this many seconds.
fn chat_at(auth: &Rc<Auth>, token: &str, seconds: u64) -> Exchange<impl Filter + use<>> {
    let bearer = format!("Bearer {token}");
    let head = post("/v1/chat/completions", &[("authorization", &bearer)]);
    ask(auth, &head, seconds)
}

fn ask(auth: &Rc<Auth>, head: &[(&str, &str)], seconds: u64) -> Exchange<impl Filter + use<>> {
    let mut host = FakeHost::new(head);
    host.now = Duration::from_secs(seconds);
    let mut it = exchange(auth, host);
    it.headers(true);
    it
}

/// `admitted`, or status, code and the reason in the log.
fn outcome(it: &Exchange<impl Filter>) -> String {
    let Some(replied) = &it.host.replied else {
        return "admitted".to_owned();
    };
    let code = String::from_utf8_lossy(&it.host.properties["dragoman.error"]);
    let reason = String::from_utf8_lossy(&it.host.properties["dragoman.refusal"]);
    format!("{} {code} {reason}", replied.status)
}

#[test]
fn a_verified_token_becomes_an_identity() {
    let auth = auth_with(r#","class":"background","limits":["gold"]"#);
    let token = token(&claims(&[("models", "[\"chat-a\"]")]));

    let it = chat_at(&auth, &token, NOW);

    assert_eq!(outcome(&it), "admitted");
    let published = &it.host.properties["dragoman.identity"];
    assert_eq!(
        Identity::decode(published),
        Some(Identity {
            key: "corp:robot",
            tenant: "team-a",
            app: "chatbot",
            key_models: Some(vec!["chat-a"]),
            tenant_models: Some(vec!["chat-*"]),
            limits: Some(vec!["gold"]),
            class: dragoman_contract::Class::Background,
            internal: false,
        })
    );
    for (name, value) in [
        ("tenant", "team-a"),
        ("app", "chatbot"),
        ("key", "corp:robot"),
    ] {
        let published = &it.host.properties[&format!("dragoman.{name}")];
        assert_eq!(published, value.as_bytes(), "{name}");
    }
}

#[test]
fn a_token_may_be_shown_like_a_key_and_goes_no_further() {
    let token = token(&claims(&[]));
    let bearer = format!("bearer  {token}");
    for (name, value) in [
        ("authorization", bearer.as_str()),
        ("x-api-key", &token),
        ("api-key", &token),
    ] {
        let it = ask(
            &auth(),
            &post("/v1/chat/completions", &[(name, value)]),
            NOW,
        );
        assert_eq!(outcome(&it), "admitted", "{name}");
        let left = it.host.request.unwrap();
        assert!(
            left.iter().all(|(left, _)| left != name.as_bytes()),
            "{name}"
        );
    }
}

/// The table of the security review: what a well signed token claims, and what comes of it.
#[test]
fn a_token_lets_in_whom_its_issuer_may_let_in() {
    let denied = |reason: &str| format!("401 invalid_credential token.{reason}");
    let mine = r#","tenants":["team-a"]"#;
    let table: [(&str, Changes<'_>, String); 20] = [
        ("", &[], "admitted".into()),
        ("", &[("tenant_id", "\"team-b\"")], "admitted".into()),
        (
            "",
            &[("tenant_id", "\"team-c\"")],
            "403 tenant_inactive tenant_suspended".into(),
        ),
        (
            "",
            &[("tenant_id", "\"nobody\"")],
            "403 tenant_inactive tenant_unknown".into(),
        ),
        (
            "",
            &[("tenant_id", "\"a\\nb\"")],
            denied("malformed.tenant"),
        ),
        ("", &[("tenant_id", "")], denied("missing.tenant")),
        (mine, &[("tenant_id", "")], "admitted".into()),
        (
            mine,
            &[("tenant_id", "\"team-b\"")],
            denied("foreign_tenant"),
        ),
        (
            mine,
            &[("tenant_id", "\"nobody\"")],
            denied("foreign_tenant"),
        ),
        (
            r#","tenants":["team-a","team-b"]"#,
            &[("tenant_id", "")],
            denied("missing.tenant"),
        ),
        (r#","tenants":[]"#, &[], denied("foreign_tenant")),
        (
            "",
            &[("scope", "\"models\"")],
            "403 scope_denied scope".into(),
        ),
        (
            "",
            &[("scope", "\"Chat\"")],
            "403 scope_denied scope".into(),
        ),
        ("", &[("scope", "")], "403 scope_denied scope".into()),
        (r#","scopes":["chat"]"#, &[("scope", "")], "admitted".into()),
        (
            r#","scopes":["chat"]"#,
            &[("scope", "\"openid\"")],
            "403 scope_denied scope".into(),
        ),
        ("", &[("iss", "\"https://else.example\"")], denied("issuer")),
        ("", &[("aud", "\"else\"")], denied("audience")),
        (r#","max_lifetime_s":600"#, &[], denied("lifetime")),
        (r#","claims":{"app":"azp"}"#, &[], denied("missing.app")),
    ];
    for (issuer, changes, expected) in table {
        let it = chat_at(&auth_with(issuer), &token(&claims(changes)), NOW);
        assert_eq!(outcome(&it), expected, "{issuer} {changes:?}");
    }
}

#[test]
fn a_token_is_refused_once_its_time_is_over_although_it_was_verified_before() {
    let auth = auth_with(r#","leeway_s":10"#);
    let token = token(&claims(&[("nbf", "1799999500")]));
    let expired = "401 invalid_credential token.expired";
    for (seconds, expected) in [
        (1_799_999_489, "401 invalid_credential token.not_yet_valid"),
        (1_799_999_490, "admitted"),
        (1_800_000_609, "admitted"),
        (1_800_000_610, expired),
        // The clock was set back.
        (1_799_999_490, "admitted"),
        (1_799_999_489, "401 invalid_credential token.not_yet_valid"),
        (1_800_000_700, expired),
    ] {
        let it = chat_at(&auth, &token, seconds);
        assert_eq!(outcome(&it), expected, "{seconds}");
    }
}

/// Somebody who may change one byte of a remembered token, or of its signature, is a stranger.
#[test]
fn a_remembered_token_lets_in_nobody_who_shows_something_like_it() {
    let auth = auth();
    let token = token(&claims(&[]));
    assert_eq!(outcome(&chat_at(&auth, &token, NOW)), "admitted");
    for place in 0..token.len() {
        let mut changed = token.clone().into_bytes();
        changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        let outcome = outcome(&chat_at(&auth, &changed, NOW));
        assert!(
            outcome.starts_with("401 invalid_credential "),
            "{place}: {outcome}"
        );
    }
    assert_eq!(outcome(&chat_at(&auth, &token, NOW)), "admitted");
}

#[test]
fn keys_and_tokens_are_credentials_side_by_side() {
    let auth = auth();
    let key = ask(&auth, &get("/v1/models", &[("api-key", KEY_A)]), NOW);
    assert_eq!(outcome(&key), "admitted");
    let unknown = ask(&auth, &get("/v1/models", &[("api-key", "sk-nobody")]), NOW);
    assert_eq!(outcome(&unknown), "401 invalid_credential unknown");
    let token = token(&claims(&[]));
    let both = [
        ("authorization", &*format!("Bearer {token}")),
        ("api-key", KEY_A),
    ];
    let both = ask(&auth, &get("/v1/models", &both), NOW);
    assert_eq!(outcome(&both), "401 ambiguous_credential several");
    let no_issuers = ask(
        &support::auth(),
        &get("/v1/models", &[("api-key", &token)]),
        NOW,
    );
    assert_eq!(outcome(&no_issuers), "401 invalid_credential unknown");
}

#[test]
fn the_tokens_of_one_subject_are_counted_together() {
    let auth = auth();
    let upload = |jti: &str, subject: &str| {
        let changes = [("jti", jti), ("sub", subject)];
        let bearer = format!("Bearer {}", token(&claims(&changes)));
        let head = post("/v1/chat/completions", &[("authorization", &bearer)]);
        let mut host = FakeHost::new(&head);
        host.now = Duration::from_secs(NOW);
        let mut it = exchange(&auth, host);
        it.headers(false);
        it
    };
    let first = upload("1", "\"robot\"");
    let second = upload("2", "\"robot\"");
    assert_eq!(outcome(&first), "admitted");
    assert_eq!(outcome(&second), "admitted");
    assert_eq!(
        outcome(&upload("3", "\"robot\"")),
        "429 too_many_uploads uploads"
    );
    assert_eq!(outcome(&upload("4", "\"other\"")), "admitted");
}

#[test]
fn a_subject_that_logs_cannot_carry_is_shown_as_a_digest() {
    for (subject, expected) in [
        ("\"robot@example.com|7\"", "corp:robot@example.com|7"),
        ("", "corp"),
        ("\"\"", "corp:#e3b0c44298fc1c149afbf4c8996fb924"),
        ("\"two words\"", "corp:#"),
        ("\"a\\nb\"", "corp:#"),
        ("\"\u{e9}\"", "corp:#"),
        ("\"#e3b0\"", "corp:#"),
        (&format!("\"{}\"", "x".repeat(65)), "corp:#"),
    ] {
        let it = chat_at(&auth(), &token(&claims(&[("sub", subject)])), NOW);
        let shown = String::from_utf8_lossy(&it.host.properties["dragoman.key"]).into_owned();
        assert!(shown.starts_with(expected), "{subject}: {shown}");
        assert!(shown.len() == expected.len() || shown.len() == "corp:#".len() + 32);
    }
}

#[test]
fn keys_that_cannot_be_used_are_refused_with_their_place_and_without_their_bytes() {
    let secret = String::from_utf8(SECRET.to_vec()).unwrap();
    let jwks = |set: &str| format!(",\"jwks\":{set}");
    let weak = JWKS.replace("f83O", "g83O");
    let shared: &[(&str, &str)] = &[("CORP_SECRET", &secret)];
    let table: [(String, Changes<'_>, &str); 8] = [
        (
            String::new(),
            &[],
            "secrets[0].env: CORP_SECRET: not set in the environment of Envoy",
        ),
        (
            String::new(),
            &[("CORP_SECRET", "")],
            "secrets[0].env: CORP_SECRET: not set in the environment of Envoy",
        ),
        (
            String::new(),
            &[("CORP_SECRET", "short")],
            "secrets[0].env: CORP_SECRET: has 5 bytes: must have 32 or more, all of them random",
        ),
        (
            jwks(&weak),
            shared,
            "jwks.keys[0].x: x and y must be a point of the curve P-256",
        ),
        (
            jwks(r#"{"keys":[]}"#),
            shared,
            "jwks.keys: has no key to check RS256, ES256 or EdDSA signatures with",
        ),
        (
            jwks(&JWKS.replace("\"ed\"", "\"p256\"")),
            shared,
            "jwks.keys[1].kid: is the id of another key already",
        ),
        (
            jwks(&JWKS.replacen("\"kid\"", "\"kty\"", 1)),
            shared,
            "jwks: must be a JSON object without repeated names",
        ),
        (
            jwks(&JWKS.replace("\"ed\"", "\"shared\"")),
            shared,
            "secrets[0].kid: is the id of another key already",
        ),
    ];
    for (issuer, variables, expected) in table {
        let fault = configure(&issuer, variables).unwrap_err();
        assert_eq!(fault, format!("auth.issuers[0].{expected}"));
    }
    assert!(configure(&jwks(JWKS), shared).is_ok());
}

#[test]
fn a_secret_may_be_given_in_base64url() {
    let encoded = r#","id2":0"#;
    assert!(
        configure(encoded, &[])
            .unwrap_err()
            .contains("unknown field")
    );
    let config = CONFIG
        .replace("{issuer}", "")
        .replace("{key-a}", &hex(KEY_A))
        .replace(r#""kid": "shared""#, r#""encoding": "base64url""#);
    let variable = |value: &str| BTreeMap::from([("CORP_SECRET".to_owned(), value.to_owned())]);
    let given = variable(&support::sign::base64url(SECRET));
    let auth = Rc::new(Auth::configure(config.as_bytes(), &given).unwrap());
    assert_eq!(
        outcome(&chat_at(&auth, &token(&claims(&[])), NOW)),
        "401 invalid_credential token.unknown_key"
    );
    let unnamed = support::sign::signed(r#"{"alg":"HS256"}"#, &claims(&[]));
    assert_eq!(outcome(&chat_at(&auth, &unnamed, NOW)), "admitted");

    let fault = Auth::configure(config.as_bytes(), &variable("+/+/")).unwrap_err();
    assert!(
        fault.ends_with("CORP_SECRET: does not hold base64url without padding, as encoding says"),
        "{fault}"
    );
}

/// What the document may say is what the tokens' crate allows.
#[test]
fn the_bounds_of_the_document_are_those_of_the_rules() {
    assert_eq!(
        Duration::from_secs(MAX_LEEWAY_S.into()),
        dragoman_token::MAX_LEEWAY
    );
    assert_eq!(
        Duration::from_secs(MAX_TOKEN_LIFETIME_S.into()),
        dragoman_token::MAX_LIFETIME
    );
}
