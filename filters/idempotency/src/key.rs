//! The form of a key, and what it is looked up by.

use dragoman_contract::Identity;
use dragoman_contract::names::IDEMPOTENCY_KEY;
use dragoman_sdk::host::Pairs;
use dragoman_slots::Key;
use sha2::{Digest, Sha256};

/// Longest key, in bytes.
pub(crate) const MAX_KEY_BYTES: usize = 255;

/// Keeps these digests apart from those of others who use the pool of chunks.
const DOMAIN: &[u8] = b"dragoman/1/idempotency";

/// A key of more or other bytes than a key may have, or several that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InvalidKey;

/// The record of one key of one caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordId {
    tenant: String,
    sha256: [u8; 32],
}

/// The key of a request: 1 to [`MAX_KEY_BYTES`] visible ASCII characters. There is no space among
/// them, so that two lines which a proxy has joined with `, ` are not taken for one key. The same
/// line twice is one key.
pub(crate) fn key_of(headers: &Pairs) -> Result<&[u8], InvalidKey> {
    let lines = headers.iter();
    let mut lines = lines.filter(|(name, _)| name == IDEMPOTENCY_KEY.as_bytes());
    let (_, key) = lines.next().ok_or(InvalidKey)?;
    let is_one = lines.all(|(_, other)| other == key);
    let has_form = (1..=MAX_KEY_BYTES).contains(&key.len()) && key.iter().all(u8::is_ascii_graphic);
    if is_one && has_form {
        Ok(key)
    } else {
        Err(InvalidKey)
    }
}

impl RecordId {
    /// The record of a key, which belongs to an application of a tenant; to everybody where nobody
    /// has to be known.
    pub(crate) fn new(caller: Option<&Identity<'_>>, key: &[u8]) -> Self {
        let (tenant, app) = caller.map_or(("", ""), |caller| (caller.tenant, caller.app));
        let mut digest = Sha256::new_with_prefix(DOMAIN);
        for part in [tenant.as_bytes(), app.as_bytes(), key] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        Self {
            tenant: tenant.to_owned(),
            sha256: digest.finalize().into(),
        }
    }

    /// `None` for a tenant whose id is longer than a configuration accepts.
    pub(crate) fn key(&self) -> Option<Key<'_>> {
        Key::new(&self.tenant, self.sha256)
    }

    pub(crate) fn sha256(&self) -> [u8; 32] {
        self.sha256
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(keys: &[&[u8]]) -> Pairs {
        let line = |key: &&[u8]| (IDEMPOTENCY_KEY.as_bytes().to_vec(), key.to_vec());
        keys.iter().map(line).collect()
    }

    #[test]
    fn a_key_is_up_to_255_visible_characters() {
        let longest = [b'k'; 255];
        let accepted: [&[&[u8]]; 7] = [
            &[b"k"],
            &[b"!"],
            &[b"~"],
            &[b"\"k\""],
            &[b"a:1,b/2"],
            &[&longest],
            &[b"k", b"k"],
        ];
        for keys in accepted {
            assert_eq!(key_of(&headers(keys)), Ok(keys[0]), "{keys:?}");
        }
        let too_long = [b'k'; 256];
        let refused: [&[&[u8]]; 9] = [
            &[],
            &[b""],
            &[b" "],
            &[b"a b"],
            &[b"a, b"],
            &[b"k\x7f"],
            &[b"\xe9"],
            &[&too_long],
            &[b"k", b"l"],
        ];
        for keys in refused {
            assert_eq!(key_of(&headers(keys)), Err(InvalidKey), "{keys:?}");
        }
    }

    #[test]
    fn no_two_callers_share_a_record() {
        let id = |tenant, app, key: &str| {
            let caller = Identity {
                key: "k",
                tenant,
                app,
                key_models: None,
                tenant_models: None,
                ..Identity::default()
            };
            RecordId::new(Some(&caller), key.as_bytes())
        };
        let ids = [
            id("a", "app", "1"),
            id("b", "app", "1"),
            id("a", "other", "1"),
            id("a:1", "app", "2"),
            id("a", "app", "1:2"),
            id("aa", "pp", "1"),
            id("a", "app1", ""),
            RecordId::new(None, b"1"),
        ];
        for (index, one) in ids.iter().enumerate() {
            for other in &ids[index + 1..] {
                assert_ne!(one.sha256, other.sha256);
            }
        }
    }

    #[test]
    fn a_quoted_key_is_not_the_same_as_a_bare_one() {
        assert_ne!(RecordId::new(None, b"\"a\""), RecordId::new(None, b"a"));
    }
}
