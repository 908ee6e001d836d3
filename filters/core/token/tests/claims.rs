//! What a token that its issuer really made may claim.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets the unexpected must fail"
)]

mod support;

use std::time::Duration;

use dragoman_token::{Claim, ClaimNames, Issuer, Key, KeySet, Refusal};
use support::{NOW, SECRET, admit, claimed, claims, issuer, keys, signed};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const HEADER: &str = r#"{"alg":"HS256"}"#;

#[test]
fn times_are_checked_with_a_minute_of_leeway() {
    let missing = |claim| Err(Refusal::Missing(claim));
    let malformed = |claim| Err(Refusal::Malformed(claim));
    type Changes = &'static [(&'static str, &'static str)];
    let table: [(Changes, Result<(), Refusal>); 24] = [
        (&[], Ok(())),
        (&[("exp", "")], missing(Claim::Expiry)),
        (&[("iat", "")], missing(Claim::IssuedAt)),
        (&[("exp", "null")], malformed(Claim::Expiry)),
        (&[("exp", "\"1800000600\"")], malformed(Claim::Expiry)),
        (&[("exp", "-1")], malformed(Claim::Expiry)),
        (&[("iat", "true")], malformed(Claim::IssuedAt)),
        (&[("nbf", "[]")], malformed(Claim::NotBefore)),
        // Milliseconds instead of seconds.
        (&[("exp", "1800000600000")], malformed(Claim::Expiry)),
        (&[("exp", "1799999941")], Ok(())),
        (&[("exp", "1799999940.001")], Ok(())),
        (&[("exp", "1799999940")], Err(Refusal::Expired)),
        (
            &[("iat", "1799990000"), ("exp", "1799990001")],
            Err(Refusal::Expired),
        ),
        (&[("nbf", "1800000060")], Ok(())),
        (&[("nbf", "1800000060.5")], Err(Refusal::NotYetValid)),
        (&[("nbf", "0")], Ok(())),
        (&[("iat", "1800000060")], Ok(())),
        (&[("iat", "1800000061")], Err(Refusal::IssuedInFuture)),
        (&[("exp", "1800003000")], Ok(())),
        (&[("exp", "1800003000.5")], Err(Refusal::Lifetime)),
        (&[("exp", "253402300799")], Err(Refusal::Lifetime)),
        (&[("iat", "0")], Err(Refusal::Lifetime)),
        (&[("exp", "1799999400")], Err(Refusal::Lifetime)),
        (&[("exp", "0")], Err(Refusal::Lifetime)),
    ];
    for (changes, expected) in table {
        assert_eq!(claimed(changes).map(|_| ()), expected, "{changes:?}");
    }
}

#[test]
fn a_token_is_valid_until_its_expiry_and_the_leeway_are_over() {
    let token = signed(HEADER, &claims(&[("nbf", "1799999500")]));
    let at = |seconds: u64| {
        admit(
            &issuer(),
            &keys(),
            token.as_bytes(),
            Duration::from_secs(seconds),
        )
        .map(|caller| caller.window)
    };
    let window = at(1_800_000_000).unwrap();
    assert_eq!(window.from, Duration::from_secs(1_799_999_440));
    assert_eq!(window.until, Duration::from_secs(1_800_000_660));
    assert_eq!(at(1_800_000_659), Ok(window));
    assert_eq!(at(1_800_000_660), Err(Refusal::Expired));
    assert_eq!(at(1_799_999_440), Ok(window));
    assert_eq!(at(1_799_999_439), Err(Refusal::NotYetValid));
}

#[test]
fn leeway_and_lifetime_are_the_issuers_within_their_bounds() {
    let strict = Issuer {
        leeway: Duration::ZERO,
        max_lifetime: Duration::from_mins(20),
        ..issuer()
    };
    let generous = Issuer {
        leeway: Duration::MAX,
        max_lifetime: Duration::MAX,
        ..issuer()
    };
    for (rules, exp, expected) in [
        (&strict, "1800000001", Ok(())),
        (&strict, "1800000000", Err(Refusal::Expired)),
        (&strict, "1800000601", Err(Refusal::Lifetime)),
        (&generous, "1799999701", Ok(())),
        (&generous, "1799999700", Err(Refusal::Expired)),
        // 31 days after it was issued, and a second more.
        (&generous, "1802677800", Ok(())),
        (&generous, "1802677801", Err(Refusal::Lifetime)),
    ] {
        let token = signed(HEADER, &claims(&[("exp", exp)]));
        let outcome = admit(rules, &keys(), token.as_bytes(), NOW).map(|_| ());
        assert_eq!(outcome, expected, "{exp}");
    }
}

#[test]
fn a_key_that_ends_takes_its_tokens_with_it() {
    let end = NOW + Duration::from_secs(5);
    let key = Key::secret(None, SECRET).unwrap().until(Some(end));
    let keys = KeySet::new(vec![key]);
    let token = signed(HEADER, &claims(&[]));
    let at = |now| admit(&issuer(), &keys, token.as_bytes(), now);
    assert_eq!(at(NOW).unwrap().window.until, end);
    assert_eq!(at(end), Err(Refusal::UnknownKey));
    let named = signed(r#"{"alg":"HS256","kid":"a"}"#, &claims(&[]));
    let key = Key::secret(Some("a".to_owned()), SECRET).unwrap();
    let keys = KeySet::new(vec![key.until(Some(end))]);
    let at = |now| admit(&issuer(), &keys, named.as_bytes(), now).map(|_| ());
    assert_eq!((at(NOW), at(end)), (Ok(()), Err(Refusal::UnknownKey)));
}

#[test]
fn issuer_and_audience_must_be_named_to_the_letter() {
    let malformed = |claim| Err(Refusal::Malformed(claim));
    for (name, value, expected) in [
        ("iss", "\"https://issuer.example/\"", Err(Refusal::Issuer)),
        ("iss", "\"HTTPS://issuer.example\"", Err(Refusal::Issuer)),
        ("iss", "\"\"", Err(Refusal::Issuer)),
        ("iss", "", Err(Refusal::Missing(Claim::Issuer))),
        (
            "iss",
            "[\"https://issuer.example\"]",
            malformed(Claim::Issuer),
        ),
        ("aud", "\"other\"", Ok(())),
        ("aud", "[\"x\",\"dragoman\"]", Ok(())),
        ("aud", "", Err(Refusal::Missing(Claim::Audience))),
        ("aud", "[]", Err(Refusal::Audience)),
        ("aud", "\"Dragoman\"", Err(Refusal::Audience)),
        ("aud", "\"dragoman other\"", Err(Refusal::Audience)),
        ("aud", "[[\"dragoman\"]]", malformed(Claim::Audience)),
        ("aud", "[\"dragoman\",1]", malformed(Claim::Audience)),
        ("aud", "{\"dragoman\":true}", malformed(Claim::Audience)),
    ] {
        let outcome = claimed(&[(name, value)]).map(|_| ());
        assert_eq!(outcome, expected, "{name} {value}");
    }
}

#[test]
fn an_issuer_without_audiences_admits_nobody() {
    let nobody = Issuer {
        audiences: Vec::new(),
        ..issuer()
    };
    for aud in ["\"\"", "[]", "\"dragoman\""] {
        let token = signed(HEADER, &claims(&[("aud", aud)]));
        let outcome = admit(&nobody, &keys(), token.as_bytes(), NOW);
        assert_eq!(outcome, Err(Refusal::Audience), "{aud}");
    }
}

#[test]
fn who_calls_is_read_from_bounded_claims_of_the_right_type() {
    let long = |bytes: usize| format!("\"{}\"", "a".repeat(bytes));
    let many = |words: usize| format!("\"{}\"", vec!["a"; words].join(" "));
    let malformed = |claim| Err(Refusal::Malformed(claim));
    for (name, value, expected) in [
        ("tenant_id", "7".to_owned(), malformed(Claim::Tenant)),
        (
            "tenant_id",
            "[\"team-a\"]".to_owned(),
            malformed(Claim::Tenant),
        ),
        ("tenant_id", String::new(), Ok(())),
        ("app_id", String::new(), Err(Refusal::Missing(Claim::App))),
        ("app_id", "\"\"".to_owned(), malformed(Claim::App)),
        ("app_id", "\"a b\"".to_owned(), malformed(Claim::App)),
        ("app_id", "\"a\\n\"".to_owned(), malformed(Claim::App)),
        ("app_id", "\"\u{e4}\"".to_owned(), malformed(Claim::App)),
        ("app_id", long(64), Ok(())),
        ("app_id", long(65), malformed(Claim::App)),
        ("sub", long(255), Ok(())),
        ("sub", long(256), malformed(Claim::Subject)),
        ("sub", "7".to_owned(), malformed(Claim::Subject)),
        ("scope", many(256), Ok(())),
        ("scope", many(257), malformed(Claim::Scopes)),
        ("scope", "7".to_owned(), malformed(Claim::Scopes)),
        (
            "scope",
            "[\"chat\",null]".to_owned(),
            malformed(Claim::Scopes),
        ),
        ("models", many(64), Ok(())),
        ("models", many(65), malformed(Claim::Models)),
        ("models", long(256), Ok(())),
        ("models", long(257), malformed(Claim::Models)),
        ("models", "\"a*b\"".to_owned(), malformed(Claim::Models)),
        ("models", "\"a**\"".to_owned(), malformed(Claim::Models)),
        ("models", "[\"\"]".to_owned(), malformed(Claim::Models)),
        (
            "models",
            "[\"a\\u0000\"]".to_owned(),
            malformed(Claim::Models),
        ),
        ("models", "true".to_owned(), malformed(Claim::Models)),
    ] {
        let outcome = claimed(&[(name, &value)]).map(|_| ());
        assert_eq!(outcome, expected, "{name} {value}");
    }
}

#[test]
fn scopes_and_models_are_words_or_a_list() {
    let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
    for (value, expected) in [
        ("", None),
        ("\"\"", words(&[])),
        ("[]", words(&[])),
        ("\"chat\"", words(&["chat"])),
        ("\" chat  models \"", words(&["chat", "models"])),
        ("[\"chat\",\"models\"]", words(&["chat", "models"])),
        ("\"chat,models\"", words(&["chat,models"])),
        ("\"chat\\tmodels\"", words(&["chat\tmodels"])),
    ] {
        assert_eq!(
            claimed(&[("scope", value)]).unwrap().scopes,
            expected,
            "{value}"
        );
    }
    let caller = claimed(&[("models", "[\"chat-*\",\"a b\"]")]).unwrap();
    assert_eq!(caller.models, words(&["chat-*", "a b"]));
}

#[test]
fn claims_have_the_names_that_the_issuer_gives_them() {
    let rules = Issuer {
        claims: ClaimNames {
            tenant: "https://example.com/tenant".to_owned(),
            app: "azp".to_owned(),
            scopes: "scp".to_owned(),
            models: "allowed".to_owned(),
        },
        ..issuer()
    };
    let claims = claims(&[
        ("https://example.com/tenant", "\"team-b\""),
        ("azp", "\"console\""),
        ("scp", "[\"chat\"]"),
        ("scope", "7"),
    ]);
    let token = signed(HEADER, &claims);

    let caller = admit(&rules, &keys(), token.as_bytes(), NOW).unwrap();

    assert_eq!(caller.tenant.as_deref(), Some("team-b"));
    assert_eq!(caller.app, "console");
    assert_eq!(caller.scopes, Some(vec!["chat".to_owned()]));
    assert_eq!(caller.models, None);
}

#[test]
fn a_name_that_stands_twice_is_refused_wherever_it_stands() {
    let twice = [
        claims(&[]).replace('}', ",\"exp\":1800000600}"),
        claims(&[]).replace('}', ",\"\\u0065xp\":1800000600}"),
        claims(&[("x", "{\"a\":1,\"a\":2}")]),
    ];
    for claims in twice {
        let token = signed(HEADER, &claims);
        let outcome = admit(&issuer(), &keys(), token.as_bytes(), NOW);
        assert_eq!(outcome, Err(Refusal::Claims), "{claims}");
    }
    for claims in ["", "[]", "7", "null", "{", "{}x"] {
        let token = signed(HEADER, claims);
        let outcome = admit(&issuer(), &keys(), token.as_bytes(), NOW);
        assert_eq!(outcome, Err(Refusal::Claims), "{claims}");
    }
}

/// What costs nothing is looked at before the signature, and what it would only then mean, after.
#[test]
fn a_signature_is_worth_the_work_only_for_us_now_and_with_a_key_that_there_is() {
    let named = r#"{"alg":"HS256","kid":"nobody's"}"#;
    let spoilt = |changes: &[(&'static str, &'static str)]| [changes, &[("app_id", "")]].concat();
    for (header, changes, expected) in [
        (HEADER, spoilt(&[("aud", "\"x\"")]), Refusal::Audience),
        (HEADER, spoilt(&[("exp", "1799999401")]), Refusal::Expired),
        (named, spoilt(&[("aud", "\"x\"")]), Refusal::Audience),
        (named, spoilt(&[]), Refusal::UnknownKey),
        (HEADER, spoilt(&[]), Refusal::Signature),
    ] {
        let token = signed(header, &claims(&changes));
        let (kept, signature) = token.rsplit_once('.').unwrap();
        let first = if signature.starts_with('A') { 'B' } else { 'A' };
        let forged = format!("{kept}.{first}{}", &signature[1..]);
        assert_ne!(token, forged);
        let outcome = admit(&issuer(), &keys(), forged.as_bytes(), NOW);
        assert_eq!(outcome, Err(expected), "{header} {changes:?}");
    }
}
