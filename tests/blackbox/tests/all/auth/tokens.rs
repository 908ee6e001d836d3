//! Signed tokens as credentials.

use blackbox::issuer::{SECRET, SignWith, base64url, jwks, now};
use blackbox::{Engine, World, both_engines};
use serde_json::{Value, json};

use super::{bearer, chat_with, get_as, id, with_auth};
use crate::support::refused;

both_engines![
    each_algorithm_lets_its_callers_in,
    a_token_is_believed_by_the_table,
    a_token_reaches_what_its_claims_and_its_tenant_allow,
    a_token_that_was_verified_is_refused_when_it_is_changed,
    an_issuer_speaks_only_for_its_tenants,
    nothing_of_a_token_is_in_a_log_or_reaches_a_worker,
];

pub(super) const ISSUER: &str = "https://issuer.example";
const KEYS: [SignWith; 3] = [SignWith::Rs256, SignWith::Es256(0), SignWith::EdDsa(0)];

/// The usual callers, and an issuer that may speak for all tenants and one for `team-b` alone.
fn issuers(engine: Engine) -> World {
    let auth = json!({"issuers": [
        {"id": "corp", "issuer": ISSUER, "audiences": ["dragoman"], "jwks": jwks(&KEYS),
         "secrets": [{"env": "CORP_SECRET", "kid": "shared"}]},
        {"id": "partner", "issuer": "https://partner.example", "audiences": ["dragoman"],
         "tenants": ["team-b"], "scopes": ["chat", "models"], "jwks": jwks(&[SignWith::EdDsa(7)])}]});
    with_auth(engine, auth)
        .environment("CORP_SECRET", SECRET)
        .start()
}

/// Claims of somebody who may come in, with these changes; `null` leaves one out.
pub(super) fn claims(changes: Value) -> Value {
    let now = now();
    let mut claims = json!({
        "iss": ISSUER, "aud": "dragoman", "sub": "robot", "iat": now - 10, "exp": now + 600,
        "tenant_id": "team-a", "app_id": "chatbot", "scope": "chat models openid",
    });
    if let (Some(claims), Value::Object(changes)) = (claims.as_object_mut(), changes) {
        claims.extend(changes);
        claims.retain(|_, value| !value.is_null());
    }
    claims
}

fn each_algorithm_lets_its_callers_in(engine: Engine) {
    let world = issuers(engine);
    for key in KEYS.into_iter().chain([SignWith::Hs256]) {
        let token = key.token(&claims(json!({})));
        for line in [bearer(&token), format!("x-api-key: {token}")] {
            let response = chat_with(&world, &[&line]);
            assert_eq!(response.content(), "hello from w1", "{key:?}: {response:?}");
            let line = world.log().request(&id(&response));
            for (field, value) in [
                ("tenant", "team-a"),
                ("app", "chatbot"),
                ("key", "corp:robot"),
            ] {
                assert_eq!(line[field], value, "{field} of {line}");
            }
        }
    }
}

/// The table of the security review: who shows what, and why it is not believed.
fn a_token_is_believed_by_the_table(engine: Engine) {
    let world = issuers(engine);
    let now = now();
    let es256 = SignWith::Es256(0);
    let good = claims(json!({}));
    let claiming = |changes: Value| es256.token(&claims(changes));
    let headed = |key: SignWith, header: Value| key.sign(&header, &good);
    let token = es256.token(&good);
    let (signed, signature) = token.rsplit_once('.').expect("three parts");
    let public = SignWith::Rs256.jwk()["n"].to_string();
    let table = [
        (
            "nobody signed it",
            format!(
                "{}.{}.",
                base64url(br#"{"alg":"none"}"#),
                base64url(good.to_string().as_bytes())
            ),
            "token.algorithm",
        ),
        (
            "the signature was taken away",
            format!("{signed}."),
            "token.signature",
        ),
        (
            "another key of the same kind",
            headed(SignWith::Es256(1), json!({"alg": "ES256", "kid": "p256-0"})),
            "token.signature",
        ),
        (
            "a public key taken for a secret",
            headed(SignWith::Hs256, json!({"alg": "HS256", "kid": "rsa"})),
            "token.algorithm",
        ),
        (
            "another algorithm than the key's",
            headed(es256, json!({"alg": "RS256", "kid": "p256-0"})),
            "token.algorithm",
        ),
        (
            "a key that nobody has",
            headed(es256, json!({"alg": "ES256", "kid": "p256-9"})),
            "token.unknown_key",
        ),
        (
            "a key of another issuer",
            SignWith::EdDsa(7).token(&good),
            "token.unknown_key",
        ),
        (
            "a key that it brings along",
            headed(
                SignWith::Es256(1),
                json!({"alg": "ES256", "kid": "p256-0", "jwk": SignWith::Es256(1).jwk()}),
            ),
            "token.signature",
        ),
        (
            "an extension nobody knows",
            headed(
                es256,
                json!({"alg": "ES256", "kid": "p256-0", "crit": ["x"], "x": 1}),
            ),
            "token.critical",
        ),
        (
            "a token for something else",
            headed(
                es256,
                json!({"alg": "ES256", "kid": "p256-0", "typ": "logout+jwt"}),
            ),
            "token.type",
        ),
        (
            "an issuer nobody knows",
            claiming(json!({"iss": "https://issuer.example.evil"})),
            "token.issuer",
        ),
        (
            "no issuer",
            claiming(json!({"iss": null})),
            "token.missing.iss",
        ),
        (
            "made for somebody else",
            claiming(json!({"aud": ["else"]})),
            "token.audience",
        ),
        (
            "for nobody",
            claiming(json!({"aud": null})),
            "token.missing.aud",
        ),
        (
            "it has expired",
            claiming(json!({"iat": now - 600, "exp": now - 120})),
            "token.expired",
        ),
        (
            "it never expires",
            claiming(json!({"exp": null})),
            "token.missing.exp",
        ),
        (
            "it lives too long",
            claiming(json!({"exp": now + 86_400})),
            "token.lifetime",
        ),
        (
            "nobody knows how long it lives",
            claiming(json!({"iat": null})),
            "token.missing.iat",
        ),
        (
            "it is still to come",
            claiming(json!({"nbf": now + 300})),
            "token.not_yet_valid",
        ),
        (
            "it comes from the future",
            claiming(json!({"iat": now + 300})),
            "token.issued_in_future",
        ),
        (
            "times in words",
            claiming(json!({"exp": "tomorrow"})),
            "token.malformed.exp",
        ),
        (
            "no tenant",
            claiming(json!({"tenant_id": null})),
            "token.missing.tenant",
        ),
        (
            "no application",
            claiming(json!({"app_id": null})),
            "token.missing.app",
        ),
        (
            "an application with a line break",
            claiming(json!({"app_id": "a\nb"})),
            "token.malformed.app",
        ),
        (
            "cut",
            token[..token.len() - 1].to_owned(),
            "token.not_compact",
        ),
        ("longer", format!("{token}A"), "token.signature"),
        ("a part more", format!("{token}.{signature}"), "unknown"),
        (
            "a public key",
            public.trim_matches('"').to_owned(),
            "unknown",
        ),
        (
            "claims that are no JSON",
            format!("{}.e30x.{signature}", base64url(br#"{"alg":"ES256"}"#)),
            "token.claims",
        ),
        (
            "longer than any",
            format!("{signed}.{}", "A".repeat(4096)),
            "too_long",
        ),
    ];
    for (what, token, reason) in table {
        let response = chat_with(&world, &[&bearer(&token)]);
        assert_eq!(
            response.outcome(),
            refused(401, "invalid_credential"),
            "{what}"
        );
        assert_eq!(
            response.header("www-authenticate").as_deref(),
            Some("Bearer"),
            "{what}"
        );
        let line = world.log().request(&id(&response));
        assert_eq!(line["refusal"], reason, "{what}: {line}");
    }
    assert_eq!(world.hits(), [0]);
    assert_eq!(chat_with(&world, &[&bearer(&token)]).status, 200);
}

fn a_token_reaches_what_its_claims_and_its_tenant_allow(engine: Engine) {
    let world = issuers(engine);
    let table = [
        (json!({}), "chat-a", (200, String::new())),
        (json!({}), "chat-b", refused(404, "model_not_found")),
        (json!({}), "embed-a", refused(403, "model_not_allowed")),
        (
            json!({"tenant_id": "team-b"}),
            "chat-b",
            (200, String::new()),
        ),
        (
            json!({"tenant_id": "team-b"}),
            "chat-a",
            refused(404, "model_not_found"),
        ),
        (
            json!({"tenant_id": "team-c"}),
            "chat",
            refused(403, "tenant_inactive"),
        ),
        (
            json!({"models": ["chat-*"]}),
            "chat-a",
            (200, String::new()),
        ),
        (
            json!({"models": "chat-*"}),
            "code-a",
            refused(403, "model_not_allowed"),
        ),
        (
            json!({"models": []}),
            "chat-a",
            refused(403, "model_not_allowed"),
        ),
        (
            json!({"scope": "models"}),
            "chat",
            refused(403, "scope_denied"),
        ),
        (json!({"scope": null}), "chat", refused(403, "scope_denied")),
    ];
    for (changes, model, expected) in table {
        let token = SignWith::EdDsa(0).token(&claims(changes.clone()));
        let body = json!({"model": model, "messages": []}).to_string();
        let response = world.request(
            "POST",
            "/v1/chat/completions",
            &[&bearer(&token)],
            body.as_bytes(),
        );
        if expected.0 == 200 {
            assert_eq!(response.status, 200, "{changes} {model}: {response:?}");
        } else {
            assert_eq!(response.outcome(), expected, "{changes} {model}");
        }
    }
    let token = SignWith::EdDsa(0).token(&claims(json!({"models": ["code-a"]})));
    let listed = get_as(&world, &token, "/v1/models").json();
    let ids: Vec<&str> = listed["data"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|model| model["id"].as_str())
        .collect();
    assert_eq!(ids, ["code-a"]);
}

fn a_token_that_was_verified_is_refused_when_it_is_changed(engine: Engine) {
    let world = issuers(engine);
    let token = SignWith::Es256(0).token(&claims(json!({})));
    for _ in 0..3 {
        assert_eq!(chat_with(&world, &[&bearer(&token)]).status, 200);
    }
    for place in (0..token.len()).step_by(17) {
        let mut changed = token.clone().into_bytes();
        changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8_lossy(&changed).into_owned();
        let response = chat_with(&world, &[&bearer(&changed)]);
        assert_eq!(
            response.outcome(),
            refused(401, "invalid_credential"),
            "{place}"
        );
    }
    assert_eq!(chat_with(&world, &[&bearer(&token)]).status, 200);
    assert_eq!(world.hits(), [4]);
}

fn an_issuer_speaks_only_for_its_tenants(engine: Engine) {
    let world = issuers(engine);
    let of_partner = |changes: Value| {
        let mut claims = claims(json!({"iss": "https://partner.example", "scope": null}));
        if let (Some(claims), Value::Object(changes)) = (claims.as_object_mut(), changes) {
            claims.extend(changes);
        }
        let response = chat_with(&world, &[&bearer(&SignWith::EdDsa(7).token(&claims))]);
        let line = world.log().request(&id(&response));
        (
            response.status,
            line["tenant"].clone(),
            line["refusal"].clone(),
        )
    };
    let foreign = (401, Value::Null, json!("token.foreign_tenant"));
    assert_eq!(of_partner(json!({"tenant_id": "team-a"})), foreign);
    assert_eq!(of_partner(json!({"tenant_id": "team-z"})), foreign);
    let own = (200, json!("team-b"), Value::Null);
    assert_eq!(of_partner(json!({"tenant_id": "team-b"})), own);
}

fn nothing_of_a_token_is_in_a_log_or_reaches_a_worker(engine: Engine) {
    let world = issuers(engine);
    let good = SignWith::Rs256.token(&claims(json!({})));
    let expired = SignWith::Rs256.token(&claims(json!({"iat": 1, "exp": 2})));
    for token in [&good, &expired] {
        let response = chat_with(&world, &[&bearer(token)]);
        let _ = world.log().request(&id(&response));
        let answer = format!("{response:?}");
        assert!(!answer.contains(token.as_str()), "{answer}");
    }
    let mut seen = world.output();
    for line in world.log().lines() {
        seen.push_str(&line.to_string());
    }
    for request in world.worker("w1").requests() {
        seen.push_str(&format!("{:?}", request.headers));
    }
    for token in [&good, &expired] {
        for part in token.split('.').skip(1) {
            assert!(!seen.contains(part), "{part}");
        }
    }
    assert!(!seen.contains(SECRET));
}
