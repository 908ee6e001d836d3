//! The published keys of an issuer as they are kept from one reading to the next. A key that left
//! the set stays usable for a while, since tokens that it signed are still about, and caches on the
//! way may still hand out the former set.

use base64ct::{Base64UrlUnpadded, Encoding as _};
use dragoman_contract::errors::quoted;

use crate::json::{Json, object};
use crate::jwk::{Jwk, Material};
use crate::key_set::MAX_KEYS;

/// Most keys that are kept, those included that left: those that leave first go first.
pub const MAX_KEPT_KEYS: usize = 2 * MAX_KEYS;

/// A published key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptKey {
    /// The key.
    pub key: Jwk,
    /// When it stops being usable, in seconds since 1970; `None`: it is in the set.
    pub until_s: Option<u64>,
}

/// Everything that is kept of an issuer's keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptKeys {
    /// Those of the set first.
    pub keys: Vec<KeptKey>,
}

impl KeptKeys {
    /// What is kept after a set was read at `now_s`, in seconds since 1970: all of it, and what left
    /// it no longer ago than `overlap_s`. A key whose id now names another one goes at once, and so
    /// does one without an id for which another one of its kind without an id has come: of two, a
    /// token could not say which it means.
    #[must_use]
    pub fn replaced_by(&self, set: Vec<Jwk>, now_s: u64, overlap_s: u64) -> Self {
        let stays = |old: &Jwk| set.iter().any(|new| new.material == old.material);
        let renamed = |old: &Jwk| {
            let takes_over =
                |new: &Jwk| new.key_id == old.key_id && (new.key_id.is_some() || new.is_like(old));
            set.iter().any(takes_over)
        };
        let mut left: Vec<KeptKey> = self
            .keys
            .iter()
            .filter(|old| !stays(&old.key) && !renamed(&old.key))
            .map(|old| KeptKey {
                key: old.key.clone(),
                until_s: Some(old.until_s.unwrap_or(now_s.saturating_add(overlap_s))),
            })
            .filter(|old| old.until_s > Some(now_s))
            .collect();
        left.sort_by_key(|old| std::cmp::Reverse(old.until_s));
        let in_set = set.into_iter().map(|key| KeptKey { key, until_s: None });
        Self {
            keys: in_set.chain(left).take(MAX_KEPT_KEYS).collect(),
        }
    }

    /// Whether one of the keys has this id.
    #[must_use]
    pub fn has_id(&self, id: &str) -> bool {
        let same = |kept: &KeptKey| kept.key.key_id.as_deref() == Some(id);
        self.keys.iter().any(same)
    }

    /// The keys as JSON: a key set whose members that left have an `until`.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let keys: Vec<String> = self.keys.iter().map(member).collect();
        format!("{{\"keys\":[{}]}}", keys.join(",")).into_bytes()
    }

    /// The keys in such a text; `None` if it is none.
    #[must_use]
    pub fn decode(text: &[u8]) -> Option<Self> {
        let members = object(text)?;
        let Json::List(items) = members.get("keys")? else {
            return None;
        };
        if items.len() > MAX_KEPT_KEYS {
            return None;
        }
        let mut keys = Vec::with_capacity(items.len());
        for (place, item) in items.iter().enumerate() {
            let Json::Object(members) = item else {
                return None;
            };
            let until_s = match members.get("until") {
                None => None,
                Some(Json::Whole(seconds)) => Some(*seconds),
                Some(_) => return None,
            };
            let key = Jwk::read(place, members).ok()??;
            keys.push(KeptKey { key, until_s });
        }
        Some(Self { keys })
    }
}

fn member(kept: &KeptKey) -> String {
    let text = |bytes: &[u8]| Base64UrlUnpadded::encode_string(bytes);
    let mut out = match &kept.key.material {
        Material::Rsa { modulus, exponent } => {
            let (n, e) = (text(modulus), text(exponent));
            format!(r#"{{"kty":"RSA","n":"{n}","e":"{e}""#)
        }
        Material::P256 { x, y } => {
            let (x, y) = (text(x), text(y));
            format!(r#"{{"kty":"EC","crv":"P-256","x":"{x}","y":"{y}""#)
        }
        Material::Ed25519 { x } => {
            let x = text(x);
            format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{x}""#)
        }
    };
    if let Some(id) = &kept.key.key_id {
        out.push_str(&format!(",\"kid\":{}", quoted(id)));
    }
    if let Some(until) = kept.until_s {
        out.push_str(&format!(",\"until\":{until}"));
    }
    out.push('}');
    out
}
