//! An issuer that signs with a shared secret.

use base64ct::{Base64UrlUnpadded, Encoding as _};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

pub const SECRET: &[u8] = b"a secret for tests of 44 bytes, known to all";
/// Unix seconds at which its tokens are shown.
pub const NOW: u64 = 1_800_000_000;

pub fn base64url(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}

pub fn signed(header: &str, claims: &str) -> String {
    let part = |text: &str| base64url(text.as_bytes());
    let signed = format!("{}.{}", part(header), part(claims));
    let mut state = Hmac::<Sha256>::new_from_slice(SECRET).unwrap();
    state.update(signed.as_bytes());
    let signature = base64url(&state.finalize().into_bytes());
    format!("{signed}.{signature}")
}

/// A token under the key id `shared`.
pub fn token(claims: &str) -> String {
    signed(r#"{"alg":"HS256","kid":"shared"}"#, claims)
}

/// Usual claims with these changes; a value of `""` leaves a claim out.
pub fn claims(changes: &[(&str, &str)]) -> String {
    let usual = [
        ("iss", "\"https://issuer.example\""),
        ("aud", "\"dragoman\""),
        ("sub", "\"robot\""),
        ("iat", "1799999400"),
        ("exp", "1800000600"),
        ("tenant_id", "\"team-a\""),
        ("app_id", "\"chatbot\""),
        ("scope", "\"chat openid models\""),
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
