//! What a document says of issuers of tokens: taken and refused.

#![allow(clippy::panic, reason = "a helper of tests may fail the test")]

use dragoman_config::{Encoding, Gateway, TokenClaims, parse};
use dragoman_contract::{Class, Scope, Scopes};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const LEAST: &str =
    r#""id":"i","issuer":"https://i.example","audiences":["gw"],"secrets":[{"env":"S"}]"#;

/// A document with these issuers, each given by its fields.
fn document(issuers: &[&str]) -> String {
    format!(
        r#"{{"version":1,"workers":[],"endpoints":[],"tenants":[{{"id":"t"}},{{"id":"u"}}],
           "limits":[{{"name":"gold","by":["key"],"rate":{{"per_second":1,"burst":1}}}}],
           "auth":{{"issuers":[{{{}}}]}}}}"#,
        issuers.join("},{")
    )
}

fn good(issuer: &str) -> Gateway {
    let text = document(&[issuer]);
    parse(text.as_bytes()).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

fn refusal(issuers: &[&str]) -> String {
    match parse(document(issuers).as_bytes()) {
        Ok(_) => panic!("was taken: {issuers:?}"),
        Err(fault) => fault.to_string(),
    }
}

#[test]
fn an_issuer_has_the_usual_rules_unless_it_says_more() {
    let gateway = good(LEAST);
    let [usual] = &gateway.auth.issuers[..] else {
        panic!("one issuer");
    };
    assert_eq!((usual.leeway_s, usual.max_lifetime_s), (60, 3600));
    assert_eq!(usual.claims, TokenClaims::default());
    assert_eq!(usual.scopes, Scopes::none());
    assert_eq!(
        (&usual.tenants, &usual.limits, &usual.jwks),
        (&None, &None, &None)
    );
    assert_eq!(usual.secrets[0].encoding, Encoding::Text);

    let gateway = good(
        r#""id":"i","issuer":"x","audiences":["a","b"],"jwks":{"keys":[{"kty":"EC","n":1.5,"x":[true,null,"\"\n"]}],"x":-7},
           "secrets":[{"env":"A","kid":"k","encoding":"base64url"}],"tenants":["u"],"scopes":["chat"],"class":"background",
           "limits":["gold"],"leeway_s":0,"max_lifetime_s":2678400,"claims":{"tenant":"t","app":"azp","scopes":"scp","models":"m"}"#,
    );
    let all = &gateway.auth.issuers[0];
    assert_eq!(all.tenants, Some(vec![1]));
    assert_eq!(all.scopes, Scopes::none().with(Scope::Chat));
    assert_eq!(all.class, Class::Background);
    assert_eq!((all.leeway_s, all.max_lifetime_s), (0, 2_678_400));
    assert_eq!(all.claims.app.as_deref(), Some("azp"));
    assert_eq!(all.secrets[0].encoding, Encoding::Base64Url);
    assert_eq!(
        all.jwks.as_deref(),
        Some(r#"{"keys":[{"kty":"EC","n":1.5,"x":[true,null,"\"\u000a"]}],"x":-7}"#)
    );
}

#[test]
fn what_an_issuer_cannot_be_is_refused_with_the_reason() {
    let with = |more: &str| format!("{LEAST},{more}");
    let literal = "must not hold the secret itself, which config dumps show: name the environment variable that holds it as {\"env\": \"NAME\"}";
    let private = "must not hold a secret or private key, which config dumps show: withdraw it; a secret of HS256 is named in secrets as {\"env\": \"NAME\"}";
    let at = |path: &str, reason: &str| format!("auth.issuers[0].{path}: {reason}");
    for (issuer, expected) in [
        (LEAST.replace(r#""id":"i","#, ""), at("id", "is required")),
        (LEAST.replace("[\"gw\"]", "[]"), at("audiences", "must name this gateway at least once")),
        (LEAST.replace("\"gw\"", "\"\""), at("audiences[0]", "\"\": must have 1 to 256 bytes without control characters")),
        (LEAST.replace("https://i.example", "a\\u0007"), at("issuer", "\"a\\u0007\": must have 1 to 256 bytes without control characters")),
        (LEAST.replace(r#"{"env":"S"}"#, ""), "auth.issuers[0]: has no keys: give its public ones as jwks, say where they are read as jwks_from, or name the secrets of HS256".to_owned()),
        (with(r#""jwks_from":{"path":"/"}"#), at("jwks_from.address", "is required")),
        (with(r#""jwks_from":{"address":"127.0.0.1:1"}"#), at("jwks_from.path", "is required")),
        (with(r#""jwks_from":{"address":"127.0.0.1:1","path":"keys"}"#), at("jwks_from.path", "\"keys\": must be a path: / and at most 256 bytes of visible ASCII without #")),
        (with(r#""jwks_from":{"address":"127.0.0.1:1","path":"/","host":"https://x"}"#), at("jwks_from.host", "\"https://x\": must be a host name of at most 253 bytes, with a port or without: the scheme and the path stand elsewhere")),
        (with(r#""jwks_from":{"address":"127.0.0.1:1","path":"/","refresh_seconds":0}"#), at("jwks_from.refresh_seconds", "0: must be at least 1")),
        (with(r#""jwks_from":{"address":"127.0.0.1:1","path":"/","overlap_seconds":86401}"#), at("jwks_from.overlap_seconds", "86401: must be at most 86400")),
        (with(r#""jwks_from":{"address":"127.0.0.1:1","path":"/"},"jwks":{"keys":[]}"#), at("jwks_from", "must not stand beside jwks: its public keys come from one place")),
        (LEAST.replace(r#"{"env":"S"}"#, r#""s3cr3t""#), at("secrets[0]", literal)),
        (LEAST.replace(r#"{"env":"S"}"#, r#"{"value":"s3cr3t"}"#), at("secrets[0]", literal)),
        (LEAST.replace(r#""S""#, r#""s3cr3t""#), at("secrets[0].env", "must be the name of an environment variable: 1 to 128 of A-Z 0-9 _, not starting with a digit")),
        (with(r#""jwks":{"keys":[{},{"kty":"oct","k":"s3cr3t"}]}"#), at("jwks.keys[1]", private)),
        (with(r#""jwks":{"keys":[{"kty":"EC","d":"s3cr3t"}]}"#), at("jwks.keys[0]", private)),
        (with(r#""jwks":"s3cr3t""#), at("jwks", "must be a set of public keys: {\"keys\": [...]}")),
        (with(r#""tenants":["x"]"#), at("tenants[0]", "\"x\": is no tenant of this document")),
        (with(r#""tenants":["t","t"]"#), at("tenants[1]", "\"t\": is given twice")),
        (with(r#""limits":["silver"]"#), at("limits[0]", "\"silver\": is no limit of this document")),
        (with(r#""leeway_s":301"#), at("leeway_s", "301: must be at most 300")),
        (with(r#""max_lifetime_s":0"#), at("max_lifetime_s", "0: must be at least 1")),
        (with(r#""claims":{"sub":"x"}"#), at("claims.sub", "unknown field")),
        (with(r#""algorithms":["none"]"#), at("algorithms", "unknown field")),
    ] {
        let fault = refusal(&[&issuer]);
        assert_eq!(fault, expected, "{issuer}");
        assert!(!fault.contains("s3cr3t"), "{fault}");
    }
}

#[test]
fn keys_can_be_read_from_where_the_issuer_publishes_them() {
    let from = |more: &str| {
        let source = format!(r#""address":"127.0.0.1:9301","path":"/jwks"{more}"#);
        let issuer = LEAST.replace(
            r#""secrets":[{"env":"S"}]"#,
            &format!(r#""jwks_from":{{{source}}}"#),
        );
        let gateway = good(&issuer);
        gateway.auth.issuers[0]
            .jwks_from
            .clone()
            .unwrap_or_else(|| panic!("{source}"))
    };
    let usual = from("");
    assert_eq!(
        (usual.address.to_string(), &*usual.path),
        ("127.0.0.1:9301".to_owned(), "/jwks")
    );
    assert_eq!(usual.host, "127.0.0.1:9301");
    assert_eq!(
        (
            usual.refresh_seconds,
            usual.overlap_seconds,
            usual.timeout_ms
        ),
        (300, 600, 2000)
    );

    let all = from(
        r#","host":"login.example:8443","refresh_seconds":1,"overlap_seconds":0,"timeout_ms":50"#,
    );
    assert_eq!(all.host, "login.example:8443");
    assert_eq!(
        (all.refresh_seconds, all.overlap_seconds, all.timeout_ms),
        (1, 0, 50)
    );
}

#[test]
fn without_credentials_nobodys_keys_are_read() {
    let issuer = LEAST.replace(
        r#""secrets":[{"env":"S"}]"#,
        r#""jwks_from":{"address":"127.0.0.1:1","path":"/"}"#,
    );
    let text = document(&[
        LEAST,
        &issuer.replace("\"i\"", "\"j\"").replace("//i", "//j"),
    ]);
    let off = text
        .replace(r#""auth":{"#, r#""auth":{"mode":"off","#)
        .replace(
            r#""limits":[{"name":"gold","by":["key"],"rate":{"per_second":1,"burst":1}}],"#,
            "",
        );
    let fault = parse(off.as_bytes())
        .map(|_| ())
        .map_err(|fault| fault.to_string());
    assert_eq!(
        fault,
        Err(
            "auth.issuers[1].jwks_from: needs auth.mode on: without it nobody shows a token"
                .to_owned()
        )
    );
}

#[test]
fn issuers_are_told_apart_by_id_and_by_name() {
    let other = |id: &str, name: &str| {
        LEAST
            .replace("\"i\"", id)
            .replace("https://i.example", name)
    };
    assert_eq!(
        refusal(&[LEAST, &other("\"i\"", "other")]),
        "auth.issuers[1].id: \"i\": is the id of auth.issuers[0] already"
    );
    assert_eq!(
        refusal(&[LEAST, &other("\"j\"", "https://i.example")]),
        "auth.issuers[1].issuer: \"https://i.example\": is the issuer of auth.issuers[0] already"
    );
    let many: Vec<String> = (0..17)
        .map(|n| other(&format!("\"i{n}\""), &format!("n{n}")))
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(
        refusal(&many),
        "auth.issuers: has 17 items: must have at most 16"
    );
}
