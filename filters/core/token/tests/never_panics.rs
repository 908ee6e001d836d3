//! Whatever is shown or fetched: a caller, a key, or a reason.
#![allow(
    clippy::unwrap_used,
    reason = "a test that meets the unexpected must fail"
)]

mod support;

use dragoman_token::{KeySet, Refusal, Token, has_token_form, read_key_set};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use support::{KEYS, claims, outcome, signed};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// Text of these characters. Patterns would not do: there are none where the tests are WebAssembly.
fn text_of(characters: &str, length: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let characters: Vec<char> = characters.chars().collect();
    vec(select(characters), length).prop_map(|text| text.into_iter().collect())
}

/// JSON-like text: mostly words that mean something.
fn json_like() -> impl Strategy<Value = String> {
    let words = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"exp\"",
        "\"iss\"",
        "\"aud\"",
        "\"https://issuer.example\"",
        "\"alg\"",
        "\"HS256\"",
        "\"kid\"",
        "\"keys\"",
        "\"kty\"",
        "\"RSA\"",
        "\"EC\"",
        "\"n\"",
        "\"AQAB\"",
        "1",
        "1e999",
        "-0",
        "null",
        "\"\\u0000\"",
        "\"",
    ];
    vec(select(words.to_vec()), 0..24).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn any_bytes_are_refused(token in vec(any::<u8>(), 0..200)) {
        prop_assert!(outcome(&token).is_err());
    }

    #[test]
    fn a_token_that_is_read_has_the_form_of_one(text in text_of("-_.aZ09", 0..61)) {
        if Token::read(text.as_bytes()).is_ok() {
            prop_assert!(has_token_form(text.as_bytes()));
        }
    }

    #[test]
    fn any_header_and_any_claims_are_read_or_refused(header in json_like(), body in json_like()) {
        let _ = outcome(signed(&header, &claims(&[])).as_bytes());
        let names_no_app = outcome(signed("{\"alg\":\"HS256\"}", &body).as_bytes());
        prop_assert!(names_no_app.is_err());
        prop_assert!(outcome(signed(&header, &body).as_bytes()).is_err());
    }

    #[test]
    fn claims_without_a_good_signature_are_refused(signature in text_of("-_aZ09bY", 43..44)) {
        let token = signed(r#"{"alg":"HS256"}"#, &claims(&[]));
        let (head, good) = token.rsplit_once('.').unwrap();
        prop_assume!(signature != good);
        let found = outcome(format!("{head}.{signature}").as_bytes()).unwrap_err();
        prop_assert!(matches!(found, Refusal::Signature | Refusal::NotCompact));
    }

    #[test]
    fn any_text_is_a_set_of_keys_or_a_reason(text in json_like()) {
        if let Err(fault) = KeySet::parse(text.as_bytes()) {
            prop_assert!(!fault.to_string().is_empty());
        }
    }

    #[test]
    fn a_set_with_a_changed_byte_is_read_or_refused(place in 0..KEYS.len(), byte: u8) {
        let mut changed = KEYS.as_bytes().to_vec();
        if let Some(at) = changed.get_mut(place) {
            *at = byte;
        }
        if let Ok(keys) = read_key_set(&changed) {
            prop_assert!(keys.len() <= 8);
        }
    }
}
