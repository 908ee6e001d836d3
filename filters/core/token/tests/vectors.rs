//! Tokens that another implementation made, and what changing a byte makes of them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected must fail"
)]

mod support;

use dragoman_token::{Caller, Refusal, Window};
use support::{NOW, TOKENS, admit, issuer, keys, outcome};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn rows() -> Vec<[&'static str; 3]> {
    let row = |line: &'static str| -> [&str; 3] {
        line.split('\t').collect::<Vec<_>>().try_into().unwrap()
    };
    TOKENS.lines().map(row).collect()
}

#[test]
fn tokens_of_another_implementation_are_admitted_or_refused_for_the_right_reason() {
    let rows = rows();
    assert!(rows.len() > 30);
    for [expected, what, token] in rows {
        let found = match outcome(token.as_bytes()) {
            Ok(_) => "admitted".to_owned(),
            Err(reason) => reason.to_string(),
        };
        assert_eq!(found, expected, "{what}");
    }
}

#[test]
fn who_calls_is_what_the_claims_say() {
    let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
    for [_, what, token] in rows().into_iter().filter(|row| row[0] == "admitted") {
        let expected = Caller {
            subject: Some("robot".to_owned()),
            tenant: Some("team-a".to_owned()),
            app: "chatbot".to_owned(),
            scopes: words(&["chat", "models"]),
            models: words(&["chat-*"]),
            window: Window {
                from: NOW - std::time::Duration::from_secs(660),
                until: NOW + std::time::Duration::from_secs(660),
            },
        };
        assert_eq!(outcome(token.as_bytes()), Ok(expected), "{what}");
    }
}

/// One token of each algorithm.
fn good_tokens() -> Vec<&'static str> {
    let wanted = [
        "HS256 by its secret",
        "RS256 with 2048 bits",
        "ES256",
        "EdDSA",
    ];
    let tokens: Vec<&str> = rows()
        .into_iter()
        .filter(|[_, what, _]| wanted.contains(what))
        .map(|[_, _, token]| token)
        .collect();
    assert_eq!(tokens.len(), wanted.len());
    tokens
}

#[test]
fn no_byte_of_a_token_can_be_changed() {
    let (issuer, keys) = (issuer(), keys());
    for token in good_tokens() {
        for place in 0..token.len() {
            let mut changed = token.as_bytes().to_vec();
            changed[place] ^= 1 << (place % 8);
            let outcome = admit(&issuer, &keys, &changed, NOW);
            assert!(outcome.is_err(), "byte {place} of {token}");
        }
    }
}

#[test]
fn no_part_of_a_token_is_a_token() {
    let (issuer, keys) = (issuer(), keys());
    for token in good_tokens() {
        for place in 0..token.len() {
            for part in [&token[..place], &token[place + 1..]] {
                let outcome = admit(&issuer, &keys, part.as_bytes(), NOW);
                assert!(outcome.is_err(), "cut at {place} of {token}");
            }
        }
        for longer in [
            format!("{token}A"),
            format!("{token}="),
            format!(" {token}"),
            format!("{token}."),
        ] {
            assert!(outcome(longer.as_bytes()).is_err(), "{longer}");
        }
    }
}

/// The signature of one token under the claims of another.
#[test]
fn a_signature_belongs_to_one_token() {
    let tokens = good_tokens();
    for one in &tokens {
        for other in tokens.iter().filter(|other| *other != one) {
            let (signed, _) = one.rsplit_once('.').unwrap();
            let (_, signature) = other.rsplit_once('.').unwrap();
            let outcome = outcome(format!("{signed}.{signature}").as_bytes());
            assert_eq!(outcome, Err(Refusal::Signature));
        }
    }
}
