//! Key material, and whether a text holds any of it, in whatever form.

use std::fmt;

/// Shortest part of a secret that counts as a leak. What the keys of tests have in common with each
/// other and with names of the deployment is shorter.
const MIN_PART: usize = 12;
/// How keys of clients begin.
const KEY_PREFIX: &str = "sk-";
/// Shortest rest of what looks like a key without being known as one.
const MIN_KEY_REST: usize = 8;
/// How a signed token begins: the Base64 of `{"`.
const TOKEN_PREFIX: &str = "eyJ";

/// What must not be seen.
#[derive(Clone, Debug, Default)]
pub struct Secrets(Vec<String>);

/// Key material in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leak {
    form: &'static str,
    /// As it stands in the text.
    found: String,
}

impl fmt::Display for Leak {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.form, self.found)
    }
}

impl Secrets {
    /// Adds one.
    pub fn add(&mut self, secret: &str) {
        if !secret.is_empty() && !self.0.iter().any(|known| known == secret) {
            self.0.push(secret.to_owned());
        }
    }

    /// Adds those of another.
    pub fn extend(&mut self, other: &Self) {
        for secret in &other.0 {
            self.add(secret);
        }
    }

    /// The secrets themselves, whole, without looking for anything else.
    #[must_use]
    pub fn whole_in(&self, text: &[u8]) -> Option<Leak> {
        let text = String::from_utf8_lossy(text);
        let found = self
            .0
            .iter()
            .find(|secret| text.contains(secret.as_str()))?;
        Some(leak("a secret as it is", found))
    }

    /// The first key material in a text: a secret that is known, whole or in part (from
    /// `MIN_PART` bytes on), in Base64 at any alignment and of either alphabet, in hexadecimal, as
    /// percent-encoded bytes, in reverse; and whatever looks like a key or a signed token, known or not.
    #[must_use]
    pub fn find_in(&self, text: &str) -> Option<Leak> {
        let known = self.0.iter().flat_map(|secret| forms(secret));
        for (form, needle) in known {
            if text.contains(&needle) {
                return Some(leak(form, &needle));
            }
        }
        looks_like_a_key(text)
            .map(|found| leak("what looks like a key", found))
            .or_else(|| {
                looks_like_a_token(text).map(|found| leak("what looks like a signed token", found))
            })
    }
}

fn leak(form: &'static str, found: &str) -> Leak {
    let found = found.to_owned();
    Leak { form, found }
}

fn forms(secret: &str) -> Vec<(&'static str, String)> {
    let bytes = secret.as_bytes();
    let mut forms = vec![("a secret as it is", secret.to_owned())];
    let windows = secret.char_indices().filter_map(|(at, _)| {
        let part = secret.get(at..at + MIN_PART)?;
        Some(("a part of a secret", part.to_owned()))
    });
    forms.extend(windows);
    for skipped in 0..3 {
        // Of another text in front of it, so many bytes share a group of three with the secret.
        let inner = bytes.get((3 - skipped) % 3..).unwrap_or_default();
        let whole = inner.get(..inner.len() / 3 * 3).unwrap_or_default();
        if whole.len() >= MIN_PART / 2 {
            let text = base64(whole);
            let safe = text.replace('+', "-").replace('/', "_");
            forms.extend([
                ("a secret in base64", text),
                ("a secret in base64url", safe),
            ]);
        }
    }
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = bytes.iter().map(|byte| format!("%{byte:02x}")).collect();
    forms.extend([
        ("a secret in hexadecimal", hex.to_uppercase()),
        ("a secret in hexadecimal", hex),
        ("a percent-encoded secret", percent.to_uppercase()),
        ("a percent-encoded secret", percent),
        ("a secret in reverse", secret.chars().rev().collect()),
    ]);
    forms
}

/// Of whole groups of three bytes.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups = bytes.chunks_exact(3).map(|group| {
        group
            .iter()
            .fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte))
    });
    groups
        .flat_map(|bits| [18, 12, 6, 0].map(|shift| char::from(ALPHABET[bits >> shift & 63])))
        .collect()
}

/// `sk-` at the beginning of a word, and a long rest.
fn looks_like_a_key(text: &str) -> Option<&str> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    text.match_indices(KEY_PREFIX).find_map(|(at, _)| {
        let begins = !text.as_bytes()[..at]
            .last()
            .is_some_and(|byte| byte.is_ascii_alphanumeric());
        let rest = &text.as_bytes()[at + KEY_PREFIX.len()..];
        let length = rest.iter().take_while(|byte| is_part(byte)).count();
        (begins && length >= MIN_KEY_REST).then(|| &text[at..at + KEY_PREFIX.len() + length])
    })
}

/// Three parts of Base64 with dots between them, the first of which is an object.
fn looks_like_a_token(text: &str) -> Option<&str> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    text.match_indices(TOKEN_PREFIX).find_map(|(at, _)| {
        let length = text.as_bytes()[at..]
            .iter()
            .take_while(|byte| is_part(byte))
            .count();
        let token = &text[at..at + length];
        let mut parts = token.split('.');
        let payload = parts.nth(1)?;
        (payload.starts_with(TOKEN_PREFIX) && parts.next().is_some()).then_some(token)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "first-worker-key-0815";

    fn found(text: &str) -> Option<&'static str> {
        let mut secrets = Secrets::default();
        secrets.add(SECRET);
        secrets.find_in(text).map(|leak| leak.form)
    }

    #[test]
    fn a_secret_is_found_in_every_form() {
        for (text, form) in [
            ("key first-worker-key-0815.", "a secret as it is"),
            ("key first-worker...", "a part of a secret"),
            ("key ...ker-key-0815", "a part of a secret"),
            // Of the secret, and behind one and two other bytes.
            ("Zmlyc3Qtd29ya2VyLWtleS0wODE1", "a secret in base64"),
            ("OmZpcnN0LXdvcmtlci1rZXktMDgxNQ==", "a secret in base64"),
            ("eDpmaXJzdC13b3JrZXIta2V5LTA4MTU=", "a secret in base64"),
            (
                "66697273742d776f726b65722d6b65792d30383135",
                "a secret in hexadecimal",
            ),
            (
                "66697273742D776F726B65722D6B65792D30383135",
                "a secret in hexadecimal",
            ),
            (
                "%66%69%72%73%74%2d%77%6f%72%6b%65%72%2d%6b%65%79%2d%30%38%31%35",
                "a percent-encoded secret",
            ),
            ("5180-yek-rekrow-tsrif", "a secret in reverse"),
        ] {
            assert_eq!(found(text).unwrap_or_default(), form, "{text}");
        }
    }

    #[test]
    fn what_looks_like_a_key_or_a_token_is_found_without_being_known() {
        for (text, form) in [
            ("Bearer sk-someone-else", "what looks like a key"),
            ("\"sk-0123456789\"", "what looks like a key"),
            (
                "x eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln y",
                "what looks like a signed token",
            ),
        ] {
            assert_eq!(found(text), Some(form), "{text}");
        }
        for text in [
            "",
            "disk-0123456789",
            "sk-short",
            "eyJhbGciOiJIUzI1NiJ9",
            "first-work",
            "eyJ.x.y",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
