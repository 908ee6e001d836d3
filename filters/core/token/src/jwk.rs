//! One key of a set as JSON has it (RFC 7517, 7518, 8037), taken apart and not yet ready to use.

use std::fmt;

use crate::compact::decode;
use crate::header::{Algorithm, MAX_KEY_ID_BYTES};
use crate::json::{Json, Object};

/// Smallest RSA modulus, in bits: what RFC 7518 asks for.
pub const MIN_RSA_BITS: usize = 2048;
/// Largest RSA modulus, in bits: a signature costs its square, and anybody may order it.
pub const MAX_RSA_BITS: usize = 4096;
/// Most bytes of an RSA exponent: 65537 has three.
const MAX_EXPONENT_BYTES: usize = 4;
/// Smallest exponent of keys made by today's rules.
const MIN_EXPONENT: u32 = 65_537;

/// A public key to check signatures with, and its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jwk {
    /// Which one of its set it is, from 0.
    pub place: usize,
    /// Its id (`kid`), at most [`MAX_KEY_ID_BYTES`].
    pub key_id: Option<String>,
    pub(crate) material: Material,
}

/// Numbers are big-endian, without leading zeros where their length is not fixed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Material {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    P256 { x: [u8; 32], y: [u8; 32] },
    Ed25519 { x: [u8; 32] },
}

/// What is wrong with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFault {
    /// Its member; empty for the key as a whole.
    pub member: &'static str,
    /// What it should be; never what stands there.
    pub reason: String,
}

impl KeyFault {
    pub(crate) fn new(member: &'static str, reason: impl Into<String>) -> Self {
        Self {
            member,
            reason: reason.into(),
        }
    }
}

impl fmt::Display for KeyFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.member.is_empty() {
            out.write_str(&self.reason)
        } else {
            write!(out, "{}: {}", self.member, self.reason)
        }
    }
}

impl std::error::Error for KeyFault {}

impl Jwk {
    /// Whether another key is of the same kind.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.material) == std::mem::discriminant(&other.material)
    }

    /// The key in these members; `None` if it is for something that is not done here: another kind
    /// of key, another algorithm, or encryption.
    pub(crate) fn read(place: usize, members: &Object) -> Result<Option<Self>, KeyFault> {
        let kind = required_text(members, "kty")?;
        if kind == "oct" || members.contains_key("d") {
            let reason = "is a secret, and a set of keys is public: withdraw the key, then give a secret of HS256 by the name of its environment variable";
            return Err(KeyFault::new("", reason));
        }
        let Some(algorithm) = algorithm(members, kind)? else {
            return Ok(None);
        };
        if !is_for_verifying(members)? || !is_named(members, algorithm)? {
            return Ok(None);
        }
        let material = match algorithm {
            Algorithm::Rs256 => rsa(members)?,
            Algorithm::Es256 => Material::P256 {
                x: fixed(members, "x")?,
                y: fixed(members, "y")?,
            },
            Algorithm::EdDsa => Material::Ed25519 {
                x: fixed(members, "x")?,
            },
            Algorithm::Hs256 => return Ok(None),
        };
        Ok(Some(Self {
            place,
            key_id: key_id(members)?,
            material,
        }))
    }
}

/// What a key of this kind signs with.
fn algorithm(members: &Object, kind: &str) -> Result<Option<Algorithm>, KeyFault> {
    let curve = || required_text(members, "crv");
    Ok(match kind {
        "RSA" => Some(Algorithm::Rs256),
        "EC" if curve()? == "P-256" => Some(Algorithm::Es256),
        "OKP" if curve()? == "Ed25519" => Some(Algorithm::EdDsa),
        _ => None,
    })
}

/// Whether the key says to be for signatures, or does not say.
fn is_for_verifying(members: &Object) -> Result<bool, KeyFault> {
    let usage = optional_text(members, "use")?.is_none_or(|usage| usage == "sig");
    let operation = match members.get("key_ops") {
        None => true,
        Some(Json::List(all)) => all
            .iter()
            .any(|one| matches!(one, Json::Text(name) if name == "verify")),
        Some(_) => return Err(KeyFault::new("key_ops", "must be a list of strings")),
    };
    Ok(usage && operation)
}

/// Whether the key says to be for this algorithm, or does not say.
fn is_named(members: &Object, algorithm: Algorithm) -> Result<bool, KeyFault> {
    let name = optional_text(members, "alg")?;
    Ok(name.is_none_or(|name| Algorithm::named(name) == Some(algorithm)))
}

fn key_id(members: &Object) -> Result<Option<String>, KeyFault> {
    match optional_text(members, "kid")? {
        Some(id) if !(1..=MAX_KEY_ID_BYTES).contains(&id.len()) => {
            let reason = format!("must have 1 to {MAX_KEY_ID_BYTES} bytes");
            Err(KeyFault::new("kid", reason))
        }
        id => Ok(id.map(str::to_owned)),
    }
}

fn rsa(members: &Object) -> Result<Material, KeyFault> {
    let modulus = number(members, "n")?;
    let first = modulus.first().copied().unwrap_or_default();
    let bits = (modulus.len() * 8).saturating_sub(first.leading_zeros() as usize);
    if !(MIN_RSA_BITS..=MAX_RSA_BITS).contains(&bits) {
        let reason = format!("has {bits} bits: must have {MIN_RSA_BITS} to {MAX_RSA_BITS}");
        return Err(KeyFault::new("n", reason));
    }
    if !is_odd(&modulus) {
        return Err(KeyFault::new("n", "must be odd"));
    }
    let exponent = number(members, "e")?;
    if !(exponent.len() <= MAX_EXPONENT_BYTES
        && value(&exponent) >= MIN_EXPONENT
        && is_odd(&exponent))
    {
        let reason = format!("must be odd, {MIN_EXPONENT} or more, and below 2^32");
        return Err(KeyFault::new("e", reason));
    }
    Ok(Material::Rsa { modulus, exponent })
}

fn is_odd(number: &[u8]) -> bool {
    number.last().is_some_and(|byte| byte % 2 == 1)
}

fn value(number: &[u8]) -> u32 {
    number
        .iter()
        .fold(0, |value: u32, byte| (value << 8) | u32::from(*byte))
}

/// Some issuers write a zero in front, as signed integers need it.
fn number(members: &Object, name: &'static str) -> Result<Vec<u8>, KeyFault> {
    let bytes = bytes(members, name)?;
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    Ok(bytes.get(zeros..).unwrap_or_default().to_vec())
}

fn fixed(members: &Object, name: &'static str) -> Result<[u8; 32], KeyFault> {
    let bytes = bytes(members, name)?;
    let wrong = |_| KeyFault::new(name, "must have 32 bytes");
    bytes.as_slice().try_into().map_err(wrong)
}

fn bytes(members: &Object, name: &'static str) -> Result<Vec<u8>, KeyFault> {
    let text = required_text(members, name)?;
    decode(text.as_bytes()).map_err(|_| KeyFault::new(name, "must be base64url without padding"))
}

fn required_text<'a>(members: &'a Object, name: &'static str) -> Result<&'a str, KeyFault> {
    optional_text(members, name)?.ok_or_else(|| KeyFault::new(name, "is required"))
}

fn optional_text<'a>(members: &'a Object, name: &'static str) -> Result<Option<&'a str>, KeyFault> {
    match members.get(name) {
        None => Ok(None),
        Some(Json::Text(text)) => Ok(Some(text)),
        Some(_) => Err(KeyFault::new(name, "must be a string")),
    }
}
