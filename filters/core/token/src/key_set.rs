//! The keys of an issuer.

use std::fmt;
use std::time::Duration;

use crate::header::Algorithm;
use crate::json::{Json, object};
use crate::jwk::{Jwk, KeyFault};
use crate::kept::KeptKeys;
use crate::key::Key;
use crate::refusal::Refusal;

/// Largest set as JSON, in bytes.
pub const MAX_KEY_SET_BYTES: usize = 64 * 1024;
/// Most keys of a set, those included that are passed over. Issuers have two or three.
pub const MAX_KEYS: usize = 32;

/// The keys of an issuer, ready to use.
#[derive(Clone, Debug, Default)]
pub struct KeySet {
    keys: Vec<Key>,
}

/// What is wrong with a set; the first fault. Shows no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySetFault {
    /// Where, as `keys[2].n`; empty for the set itself.
    pub path: String,
    /// What it should be.
    pub reason: String,
}

/// Reads a set of public keys (RFC 7517). Keys that are for something else are passed over.
///
/// # Errors
/// The first fault. One bad key condemns the set: a list that was half written, or keys that
/// nobody should have made, are for people to look at.
pub fn read_key_set(text: &[u8]) -> Result<Vec<Jwk>, KeySetFault> {
    let whole = |reason: String| Err(KeySetFault::new("", reason));
    if text.len() > MAX_KEY_SET_BYTES {
        let bytes = text.len();
        return whole(format!(
            "has {bytes} bytes: must have at most {MAX_KEY_SET_BYTES}"
        ));
    }
    let Some(members) = object(text) else {
        return whole("must be a JSON object without repeated names".to_owned());
    };
    let Some(Json::List(items)) = members.get("keys") else {
        return Err(KeySetFault::new("keys", "must be a list"));
    };
    if items.len() > MAX_KEYS {
        let reason = format!("has {} keys: must have at most {MAX_KEYS}", items.len());
        return Err(KeySetFault::new("keys", reason));
    }
    let mut keys: Vec<Jwk> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Json::Object(members) = item else {
            return Err(KeySetFault::new(
                &format!("keys[{index}]"),
                "must be an object",
            ));
        };
        let key = Jwk::read(index, members).map_err(|fault| KeySetFault::of_key(index, fault))?;
        let Some(key) = key else { continue };
        if key.key_id.is_some() && keys.iter().any(|other| other.key_id == key.key_id) {
            let path = format!("keys[{index}].kid");
            return Err(KeySetFault::new(&path, "is the id of another key already"));
        }
        keys.push(key);
    }
    if keys.is_empty() {
        let reason = "has no key to check RS256, ES256 or EdDSA signatures with";
        return Err(KeySetFault::new("keys", reason));
    }
    Ok(keys)
}

/// Whether all keys of a set can be used: what [`read_key_set`] does not see is whether points are
/// on their curve. Makes none of them ready, so it needs a quarter of the code.
///
/// # Errors
/// The first fault, by the place of the key in its set.
pub fn check_key_set(keys: &[Jwk]) -> Result<(), KeySetFault> {
    let check =
        |key: &Jwk| Key::check_point(key).map_err(|fault| KeySetFault::of_key(key.place, fault));
    keys.iter().try_for_each(check)
}

fn ready(key: &Jwk) -> Result<Key, KeySetFault> {
    Key::public(key).map_err(|fault| KeySetFault::of_key(key.place, fault))
}

impl KeySet {
    /// A set of these keys.
    #[must_use]
    pub fn new(keys: Vec<Key>) -> Self {
        Self { keys }
    }

    /// Reads a set of public keys and makes them ready.
    ///
    /// # Errors
    /// As [`read_key_set`], and for points that are not on their curve.
    pub fn parse(text: &[u8]) -> Result<Self, KeySetFault> {
        let keys = read_key_set(text)?;
        Ok(Self::new(keys.iter().map(ready).collect::<Result<_, _>>()?))
    }

    /// These keys, and the published ones beside them. A published one with the id of one of these
    /// is passed over: what the gateway's own configuration says goes first.
    ///
    /// # Errors
    /// A published key that cannot be used.
    pub fn with_published(&self, published: &KeptKeys) -> Result<Self, KeySetFault> {
        let mut all = self.clone();
        for kept in &published.keys {
            let until = kept.until_s.map(Duration::from_secs);
            // The only fault is an id that is taken.
            let _ = all.add(ready(&kept.key)?.until(until));
        }
        Ok(all)
    }

    /// Adds a key.
    ///
    /// # Errors
    /// Another one has its id.
    pub fn add(&mut self, key: Key) -> Result<(), KeyFault> {
        let same = |other: &Key| other.key_id == key.key_id;
        if key.key_id.is_some() && self.keys.iter().any(same) {
            return Err(KeyFault::new("kid", "is the id of another key already"));
        }
        self.keys.push(key);
        Ok(())
    }

    /// The key that a token says to be signed with.
    pub(crate) fn find(
        &self,
        algorithm: Algorithm,
        key_id: Option<&str>,
        now: Duration,
    ) -> Result<&Key, Refusal> {
        let Some(id) = key_id else {
            return self.only(algorithm, now);
        };
        let same = |key: &&Key| key.key_id.as_deref() == Some(id) && key.is_usable(now);
        let key = self.keys.iter().find(same).ok_or(Refusal::UnknownKey)?;
        if key.algorithm() == algorithm {
            Ok(key)
        } else {
            Err(Refusal::Algorithm)
        }
    }

    /// The key that a token without a key id can only mean.
    fn only(&self, algorithm: Algorithm, now: Duration) -> Result<&Key, Refusal> {
        let fits = |key: &&Key| key.algorithm() == algorithm && key.is_usable(now);
        let mut fitting = self.keys.iter().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some(key), None) => Ok(key),
            (None, _) => Err(Refusal::UnknownKey),
            (Some(_), Some(_)) => Err(Refusal::UnnamedKey),
        }
    }
}

impl KeySetFault {
    fn new(path: &str, reason: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }

    fn of_key(index: usize, fault: KeyFault) -> Self {
        let joint = if fault.member.is_empty() { "" } else { "." };
        Self::new(
            &format!("keys[{index}]{joint}{}", fault.member),
            fault.reason,
        )
    }
}

impl fmt::Display for KeySetFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            out.write_str(&self.reason)
        } else {
            write!(out, "{}: {}", self.path, self.reason)
        }
    }
}

impl std::error::Error for KeySetFault {}
