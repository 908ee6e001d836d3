//! A key's bytes: made, read, and as their digest.

use base64ct::{Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};

/// What clients and scanners of secrets know API keys by.
const PREFIX: &str = "sk-";
/// 256 bits, so that a digest without a salt tells nobody which key it is of.
const RANDOM_BYTES: usize = 32;
/// Longest key that `auth` looks up.
const MAX_KEY_BYTES: usize = 4096;
/// The longest key, the end of its line, and one byte that shows that there is more.
pub(super) const MAX_READ_BYTES: u64 = MAX_KEY_BYTES as u64 + 3;

/// A key. It has no `Debug`, so that it ends up in no message.
pub(super) struct Key(String);

impl Key {
    /// A key of the system's randomness.
    ///
    /// # Errors
    /// The system has none.
    pub(super) fn fresh() -> Result<Self, String> {
        let mut random = [0; RANDOM_BYTES];
        getrandom::fill(&mut random)
            .map_err(|error| format!("cannot read the system's randomness: {error}"))?;
        let text = Base64UrlUnpadded::encode_string(&random);
        Ok(Self(format!("{PREFIX}{text}")))
    }

    /// The key on the only line of `text`, with or without an end of line.
    ///
    /// # Errors
    /// It is none; the reason does not show it.
    pub(super) fn read(text: &[u8]) -> Result<Self, String> {
        let line = text.strip_suffix(b"\n").unwrap_or(text);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return Err("standard input has no key: write it there, as one line".to_owned());
        }
        if line.len() > MAX_KEY_BYTES {
            return Err(format!(
                "standard input has more than the {MAX_KEY_BYTES} bytes that a key may have"
            ));
        }
        if !line.iter().all(u8::is_ascii_graphic) {
            return Err(
                "standard input is no key: one line of visible ASCII characters without spaces"
                    .to_owned(),
            );
        }
        Ok(Self(String::from_utf8_lossy(line).into_owned()))
    }

    /// What a client sends.
    pub(super) fn secret(&self) -> &str {
        &self.0
    }

    /// SHA-256 of the key in lower-case hex, as records have it.
    pub(super) fn sha256(&self) -> String {
        Sha256::digest(&self.0)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest is FIPS 180-2's example of one block.
    #[test]
    fn a_key_is_read_as_its_client_sends_it() {
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        for text in ["abc", "abc\n", "abc\r\n"] {
            let key = Key::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(key.sha256(), digest, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_key_is_refused_without_being_shown() {
        let long = "k".repeat(MAX_KEY_BYTES + 1);
        for text in ["", "\n", "ab c", "abc\nabd\n", "abc\n\n", "ab\u{e9}", &long] {
            let Err(error) = Key::read(text.as_bytes()) else {
                panic!("{text:?} was taken")
            };
            assert!(!error.contains("ab"), "{error}");
        }
        assert!(Key::read(&long.as_bytes()[1..]).is_ok());
    }

    #[test]
    fn a_fresh_key_has_256_bits_and_is_never_made_twice() {
        let keys = [(); 2].map(|()| Key::fresh().map(|key| key.0).unwrap_or_default());
        assert_ne!(keys[0], keys[1]);
        for key in keys {
            let random = Base64UrlUnpadded::decode_vec(&key[PREFIX.len()..]);
            assert_eq!(random.map(|random| random.len()), Ok(32), "{key}");
        }
    }
}
