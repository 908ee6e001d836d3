//! An issuer that signs what a test wants it to.
#![allow(dead_code, reason = "each test file uses its part of it")]

use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use dragoman_token::{Caller, Issuer, Key, KeySet, Refusal, Token, read_key_set};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

pub const SECRET: &[u8] = b"a secret for tests of 44 bytes, known to all";
pub const NOW: Duration = Duration::from_secs(1_800_000_000);

/// Keys and tokens of another implementation.
pub const KEYS: &str = include_str!("../vectors/keys.json");
pub const TOKENS: &str = include_str!("../vectors/tokens.tsv");

pub fn issuer() -> Issuer {
    Issuer {
        name: "https://issuer.example".to_owned(),
        audiences: vec!["other".to_owned(), "dragoman".to_owned()],
        ..Issuer::default()
    }
}

/// The public keys of the vectors and the shared secret.
pub fn keys() -> KeySet {
    let mut keys: Vec<Key> = read_key_set(KEYS.as_bytes())
        .unwrap()
        .iter()
        .map(|key| Key::public(key).unwrap())
        .collect();
    keys.push(Key::secret(Some("shared".to_owned()), SECRET).unwrap());
    KeySet::new(keys)
}

/// What becomes of a token at [`NOW`].
pub fn outcome(token: &[u8]) -> Result<Caller, Refusal> {
    admit(&issuer(), &keys(), token, NOW)
}

pub fn admit(
    issuer: &Issuer,
    keys: &KeySet,
    token: &[u8],
    now: Duration,
) -> Result<Caller, Refusal> {
    issuer.admit(&Token::read(token)?, keys, now)
}

/// A token with this header and these claims, well signed with [`SECRET`].
pub fn signed(header: &str, claims: &str) -> String {
    let part = |text: &str| Base64UrlUnpadded::encode_string(text.as_bytes());
    let signed = format!("{}.{}", part(header), part(claims));
    let mut state = Hmac::<Sha256>::new_from_slice(SECRET).unwrap();
    state.update(signed.as_bytes());
    let signature = Base64UrlUnpadded::encode_string(&state.finalize().into_bytes());
    format!("{signed}.{signature}")
}

/// The members of usual claims; `change` names one and gives it another value, or `""` to leave it out.
pub fn claims(changes: &[(&str, &str)]) -> String {
    let usual = [
        ("iss", "\"https://issuer.example\""),
        ("aud", "\"dragoman\""),
        ("iat", "1799999400"),
        ("exp", "1800000600"),
        ("tenant_id", "\"team-a\""),
        ("app_id", "\"chatbot\""),
    ];
    let changed = |name: &str| changes.iter().any(|(other, _)| *other == name);
    let members: Vec<String> = usual
        .iter()
        .filter(|(name, _)| !changed(name))
        .chain(changes)
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// What becomes of well signed claims.
pub fn claimed(changes: &[(&str, &str)]) -> Result<Caller, Refusal> {
    outcome(signed(r#"{"alg":"HS256","kid":"shared"}"#, &claims(changes)).as_bytes())
}
