//! A credential in the form of a token, and a set of keys: read, or refused with a reason.
#![no_main]

use std::time::Duration;

use dragoman_token::{Issuer, Key, KeySet, Token, has_token_form, read_key_set};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    // What follows the first line is a set of keys.
    let (token, keys) = match input.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&input[..end], &input[end + 1..]),
        None => (input, &b""[..]),
    };
    if let Ok(keys) = read_key_set(keys) {
        for key in &keys {
            let _ = Key::public(key);
        }
    }
    let Ok(read) = Token::read(token) else { return };
    assert!(has_token_form(token));
    let Ok(name) = read.issuer() else { return };
    let issuer = Issuer {
        name: name.to_owned(),
        audiences: vec!["dragoman".to_owned()],
        ..Issuer::default()
    };
    let secret = Key::secret(None, b"nobody can guess this while fuzzing").expect("long enough");
    let admitted = issuer.admit(&read, &KeySet::new(vec![secret]), Duration::from_secs(1_800_000_000));
    assert!(admitted.is_err(), "a token was forged");
});
