//! The compact form: `header.claims.signature`, each in base64url.

use base64ct::{Base64UrlUnpadded, Encoding as _};

use crate::claims::Claims;
use crate::header::Header;
use crate::refusal::Refusal;

/// Longest token, in bytes: as long as any credential.
pub const MAX_TOKEN_BYTES: usize = 4096;

/// A token that was read and not verified. Nothing it says is known to be true, so it says no more
/// than by whom it should be verified.
#[derive(Debug)]
pub struct Token<'a> {
    /// The first two parts with the dot between them: what is signed.
    pub(crate) signed: &'a [u8],
    pub(crate) header: Header,
    pub(crate) claims: Claims,
    pub(crate) signature: Vec<u8>,
}

/// Whether a credential looks like a token: three parts of base64url letters. The last one may be
/// empty, as it is in tokens that nobody signed.
#[must_use]
pub fn has_token_form(credential: &[u8]) -> bool {
    match parts(credential) {
        Some([header, claims, signature]) => {
            let letters = |part: &[u8]| part.iter().copied().all(is_base64url);
            !header.is_empty()
                && !claims.is_empty()
                && [header, claims, signature].into_iter().all(letters)
        }
        None => false,
    }
}

impl<'a> Token<'a> {
    /// Reads a token.
    ///
    /// # Errors
    /// What of its form is wrong; the first fault.
    pub fn read(token: &'a [u8]) -> Result<Self, Refusal> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(Refusal::TooLong);
        }
        let [header, claims, signature] = parts(token).ok_or(Refusal::NotCompact)?;
        let signed = token
            .get(..=header.len() + claims.len())
            .ok_or(Refusal::NotCompact)?;
        let (header_text, claims_text) = (decode(header)?, decode(claims)?);
        let signature = decode(signature)?;
        Ok(Self {
            signed,
            header: Header::read(&header_text)?,
            claims: Claims::read(&claims_text)?,
            signature,
        })
    }

    /// Who says to have issued it (`iss`).
    ///
    /// # Errors
    /// [`Refusal::Missing`] or [`Refusal::Malformed`].
    pub fn issuer(&self) -> Result<&str, Refusal> {
        self.claims.issuer()
    }

    /// The id of the key that it says to be signed with (`kid`).
    #[must_use]
    pub fn key_id(&self) -> Option<&str> {
        self.header.key_id.as_deref()
    }
}

fn parts(token: &[u8]) -> Option<[&[u8]; 3]> {
    let mut parts = token.split(|byte| *byte == b'.');
    let three = [parts.next()?, parts.next()?, parts.next()?];
    parts.next().is_none().then_some(three)
}

fn is_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// The bytes that base64url without padding stands for; `None` for every spelling but the shortest.
#[must_use]
pub fn decode_base64url(text: &[u8]) -> Option<Vec<u8>> {
    decode(text).ok()
}

/// Strict: no padding, no white space, no bits that say nothing. So bytes have one spelling.
pub(crate) fn decode(part: &[u8]) -> Result<Vec<u8>, Refusal> {
    let text = str::from_utf8(part).map_err(|_| Refusal::NotCompact)?;
    Base64UrlUnpadded::decode_vec(text).map_err(|_| Refusal::NotCompact)
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    #[test]
    fn three_parts_of_base64url_have_the_form_of_a_token() {
        for (credential, expected) in [
            ("a.b.c", true),
            ("eyJhbGciOiJIUzI1NiJ9.e30.-_09AZaz", true),
            ("a.b.", true),
            ("sk-0123456789abcdef", false),
            ("a.b", false),
            ("a.b.c.d", false),
            (".b.c", false),
            ("a..c", false),
            ("a.b.c=", false),
            ("a.b.c d", false),
            ("a.b.\u{e9}", false),
            ("", false),
        ] {
            assert_eq!(
                has_token_form(credential.as_bytes()),
                expected,
                "{credential}"
            );
        }
    }

    #[test]
    fn base64url_has_one_spelling() {
        assert_eq!(decode(b""), Ok(Vec::new()));
        assert_eq!(decode(b"-_8"), Ok(vec![0xfb, 0xff]));
        for part in ["-_9", "-_8=", "+/8", "-_8\n", " -_8", "-", "-_8.", "a=b="] {
            assert_eq!(decode(part.as_bytes()), Err(Refusal::NotCompact), "{part}");
        }
        assert_eq!(decode(b"\xff\xff"), Err(Refusal::NotCompact));
    }

    #[test]
    fn a_token_longer_than_any_is_refused_unread() {
        let token = "a".repeat(MAX_TOKEN_BYTES + 1);
        assert_eq!(Token::read(token.as_bytes()).unwrap_err(), Refusal::TooLong);
        let token = "a".repeat(MAX_TOKEN_BYTES);
        assert_eq!(
            Token::read(token.as_bytes()).unwrap_err(),
            Refusal::NotCompact
        );
    }
}
