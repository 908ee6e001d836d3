//! The header of a token: which algorithm and which key it says to be signed with. Both are claims
//! of somebody nobody knows yet; the key decides.

use crate::json::{Json, Object, object};
use crate::refusal::Refusal;

/// Longest key id (`kid`), in bytes. Usual ones are digests or counters.
pub const MAX_KEY_ID_BYTES: usize = 256;

/// What a signature is made with. There is no other, and no `none`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// HMAC with SHA-256: who can check it can also make it.
    Hs256,
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// ECDSA over P-256 with SHA-256.
    Es256,
    /// EdDSA over Ed25519.
    EdDsa,
}

/// What is read of a header. Places to fetch keys from, and keys (`jku`, `jwk`, `x5u`, `x5c`), are
/// not: a token does not bring its own key.
#[derive(Debug)]
pub(crate) struct Header {
    pub algorithm: Algorithm,
    pub key_id: Option<String>,
}

impl Algorithm {
    /// The algorithm of this name (`alg`). `Ed25519` is the newer name of EdDSA over that curve.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "HS256" => Self::Hs256,
            "RS256" => Self::Rs256,
            "ES256" => Self::Es256,
            "EdDSA" | "Ed25519" => Self::EdDsa,
            _ => return None,
        })
    }
}

impl Header {
    pub(crate) fn read(text: &[u8]) -> Result<Self, Refusal> {
        let members = object(text).ok_or(Refusal::Header)?;
        if members.contains_key("crit") {
            return Err(Refusal::Critical);
        }
        check_type(&members)?;
        let algorithm = match members.get("alg") {
            Some(Json::Text(name)) => Algorithm::named(name).ok_or(Refusal::Algorithm)?,
            _ => return Err(Refusal::Header),
        };
        Ok(Self {
            algorithm,
            key_id: key_id(&members)?,
        })
    }
}

/// A token made for another purpose, such as a logout notice, may carry the same signature and much
/// the same claims.
fn check_type(members: &Object) -> Result<(), Refusal> {
    let Some(value) = members.get("typ") else {
        return Ok(());
    };
    let Json::Text(name) = value else {
        return Err(Refusal::Header);
    };
    let name = name.to_ascii_lowercase();
    match name.strip_prefix("application/").unwrap_or(&name) {
        "jwt" | "at+jwt" => Ok(()),
        _ => Err(Refusal::Type),
    }
}

fn key_id(members: &Object) -> Result<Option<String>, Refusal> {
    match members.get("kid") {
        None => Ok(None),
        Some(Json::Text(id)) if (1..=MAX_KEY_ID_BYTES).contains(&id.len()) => Ok(Some(id.clone())),
        Some(_) => Err(Refusal::Header),
    }
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    fn outcome(text: &str) -> Result<(Algorithm, Option<String>), Refusal> {
        Header::read(text.as_bytes()).map(|header| (header.algorithm, header.key_id))
    }

    #[test]
    fn algorithm_and_key_id_are_read() {
        let id = |id: &str| Some(id.to_owned());
        for (text, algorithm, key_id) in [
            (r#"{"alg":"HS256"}"#, Algorithm::Hs256, None),
            (
                r#"{"alg":"RS256","kid":"a","typ":"JWT"}"#,
                Algorithm::Rs256,
                id("a"),
            ),
            (r#"{"alg":"ES256","typ":"at+jwt"}"#, Algorithm::Es256, None),
            (
                r#"{"alg":"EdDSA","typ":"application/at+JWT"}"#,
                Algorithm::EdDsa,
                None,
            ),
            (r#"{"alg":"Ed25519","typ":"jwt"}"#, Algorithm::EdDsa, None),
            (
                r#"{"alg":"RS256","jku":"x","jwk":{"kty":"oct"},"x5c":[]}"#,
                Algorithm::Rs256,
                None,
            ),
        ] {
            assert_eq!(outcome(text), Ok((algorithm, key_id)), "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for (text, reason) in [
            ("", Refusal::Header),
            ("[]", Refusal::Header),
            ("{}", Refusal::Header),
            (r#"{"alg":null}"#, Refusal::Header),
            (r#"{"alg":["HS256"]}"#, Refusal::Header),
            (r#"{"alg":"HS256","alg":"HS256"}"#, Refusal::Header),
            (r#"{"alg":"none"}"#, Refusal::Algorithm),
            (r#"{"alg":"None"}"#, Refusal::Algorithm),
            (r#"{"alg":""}"#, Refusal::Algorithm),
            (r#"{"alg":"hs256"}"#, Refusal::Algorithm),
            (r#"{"alg":"HS512"}"#, Refusal::Algorithm),
            (r#"{"alg":"PS256"}"#, Refusal::Algorithm),
            (r#"{"alg":"ES256K"}"#, Refusal::Algorithm),
            (r#"{"alg":"HS256","crit":["exp"]}"#, Refusal::Critical),
            (r#"{"alg":"HS256","crit":[]}"#, Refusal::Critical),
            (
                r#"{"alg":"HS256","b64":false,"crit":["b64"]}"#,
                Refusal::Critical,
            ),
            (r#"{"alg":"HS256","typ":"logout+jwt"}"#, Refusal::Type),
            (r#"{"alg":"HS256","typ":"JOSE"}"#, Refusal::Type),
            (r#"{"alg":"HS256","typ":1}"#, Refusal::Header),
            (r#"{"alg":"HS256","kid":1}"#, Refusal::Header),
            (r#"{"alg":"HS256","kid":""}"#, Refusal::Header),
        ] {
            assert_eq!(outcome(text), Err(reason), "{text}");
        }
        let long = format!(r#"{{"alg":"HS256","kid":"{}"}}"#, "k".repeat(257));
        assert_eq!(outcome(&long), Err(Refusal::Header));
    }
}
