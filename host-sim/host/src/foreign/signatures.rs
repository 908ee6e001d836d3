//! `sign` and `verify_signature`: RSA (PKCS #1 v1.5) and ECDSA over five digests, with the messages of Envoy.

use p256::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
use rsa::Pkcs1v15Sign;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use super::keys::{PrivateKey, PublicKey};
use super::wire::{Message, put_bytes, put_true};
use crate::abi::Status;

const NO_VERIFY: &str = "Failed to initialize digest verify.";
const NOT_VERIFIED: &str = "Failed to verify digest. Error code: 0";
const NO_PRIVATE_KEY: &str = "Invalid key type: private key required for signing operation.";
const WRONG_PRIVATE_KEY: &str = "Invalid private key: key data is corrupted or malformed.";
const NOT_SIGNED: &str = "Failed to create signature.";

/// The digest of a text, and what RSA writes before it.
struct Hashed {
    digest: Vec<u8>,
    padding: Pkcs1v15Sign,
}

impl Hashed {
    fn new(hash: &str, text: &[u8]) -> Option<Self> {
        Some(match hash.to_ascii_lowercase().as_str() {
            "sha1" => Hashed {
                digest: Sha1::digest(text).to_vec(),
                padding: Pkcs1v15Sign::new::<Sha1>(),
            },
            "sha224" => Hashed {
                digest: Sha224::digest(text).to_vec(),
                padding: Pkcs1v15Sign::new::<Sha224>(),
            },
            "sha256" => Hashed {
                digest: Sha256::digest(text).to_vec(),
                padding: Pkcs1v15Sign::new::<Sha256>(),
            },
            "sha384" => Hashed {
                digest: Sha384::digest(text).to_vec(),
                padding: Pkcs1v15Sign::new::<Sha384>(),
            },
            "sha512" => Hashed {
                digest: Sha512::digest(text).to_vec(),
                padding: Pkcs1v15Sign::new::<Sha512>(),
            },
            _ => return None,
        })
    }

    /// The digest as the number that ECDSA means, with at least the bytes of the curve's field.
    fn padded(&self, field_bytes: usize) -> Vec<u8> {
        let zeros = field_bytes.saturating_sub(self.digest.len());
        [vec![0; zeros], self.digest.clone()].concat()
    }
}

/// Message with `hash_function`, the key in one of two fields, a text and, to verify, its signature;
/// answers with a message of the result and, if it is none, why.
pub(crate) fn verify_signature(argument: &[u8]) -> Result<Vec<u8>, Status> {
    let message = Message::read(argument).ok_or(Status::BadArgument)?;
    let hash = message.text(1).ok_or(Status::BadArgument)?;
    let (der, signature, text, pem) = (
        message.bytes(2),
        message.bytes(3),
        message.bytes(4),
        message.bytes(5),
    );
    let key = match (der.is_empty(), pem.is_empty()) {
        (false, true) => PublicKey::from_der(der),
        (true, false) => PublicKey::from_pem(pem),
        _ => return Err(Status::BadArgument),
    };
    let result = match (Hashed::new(hash, text), key) {
        (None, _) => Err(format!("{hash} is not supported.")),
        (_, None) => Err(NO_VERIFY.to_owned()),
        (_, Some(PublicKey::NotModelled)) => return Err(Status::Unimplemented),
        (Some(hashed), Some(key)) if is_of(&key, &hashed, signature) => Ok(()),
        _ => Err(NOT_VERIFIED.to_owned()),
    };
    let mut out = Vec::new();
    match result {
        Ok(()) => put_true(&mut out, 1),
        Err(error) => put_bytes(&mut out, 2, error.as_bytes()),
    }
    Ok(out)
}

fn is_of(key: &PublicKey, hashed: &Hashed, signature: &[u8]) -> bool {
    match key {
        PublicKey::Rsa(key) => key
            .verify(hashed.padding.clone(), &hashed.digest, signature)
            .is_ok(),
        PublicKey::P256(key) => p256::ecdsa::Signature::from_der(signature)
            .is_ok_and(|signature| key.verify_prehash(&hashed.padded(32), &signature).is_ok()),
        PublicKey::P384(key) => p384::ecdsa::Signature::from_der(signature)
            .is_ok_and(|signature| key.verify_prehash(&hashed.padded(48), &signature).is_ok()),
        PublicKey::P521(key) => p521::ecdsa::Signature::from_der(signature)
            .is_ok_and(|signature| key.verify_prehash(&hashed.padded(66), &signature).is_ok()),
        PublicKey::NotModelled => false,
    }
}

/// Message with `hash_function`, the key in one of two fields and a text; answers with a message of
/// the signature or why there is none.
pub(crate) fn sign(argument: &[u8]) -> Result<Vec<u8>, Status> {
    let message = Message::read(argument).ok_or(Status::BadArgument)?;
    let hash = message.text(1).ok_or(Status::BadArgument)?;
    let (der, text, pem) = (message.bytes(2), message.bytes(3), message.bytes(4));
    let key = match (der.is_empty(), pem.is_empty()) {
        (false, true) => PrivateKey::from_der(der),
        (true, false) => PrivateKey::from_pem(pem),
        _ => return Err(Status::BadArgument),
    };
    let result = match (Hashed::new(hash, text), key) {
        (None, _) => Err(format!("{hash} is not supported.")),
        (_, None) => Err(NO_PRIVATE_KEY.to_owned()),
        (_, Some(PrivateKey::Other)) => Err(WRONG_PRIVATE_KEY.to_owned()),
        (_, Some(PrivateKey::NotModelled)) => return Err(Status::Unimplemented),
        (Some(hashed), Some(key)) => signature(&key, &hashed).ok_or(NOT_SIGNED.to_owned()),
    };
    let mut out = Vec::new();
    match result {
        Ok(signature) => {
            put_true(&mut out, 1);
            put_bytes(&mut out, 2, &signature);
        }
        Err(error) => put_bytes(&mut out, 3, error.as_bytes()),
    }
    Ok(out)
}

fn signature(key: &PrivateKey, hashed: &Hashed) -> Option<Vec<u8>> {
    match key {
        PrivateKey::Rsa(key) => key.sign(hashed.padding.clone(), &hashed.digest).ok(),
        PrivateKey::P256(key) => {
            let made: Result<p256::ecdsa::Signature, _> = key.sign_prehash(&hashed.padded(32));
            made.ok().map(|made| made.to_der().as_bytes().to_vec())
        }
        PrivateKey::P384(key) => {
            let made: Result<p384::ecdsa::Signature, _> = key.sign_prehash(&hashed.padded(48));
            made.ok().map(|made| made.to_der().as_bytes().to_vec())
        }
        PrivateKey::P521(key) => {
            let made: Result<p521::ecdsa::Signature, _> = key.sign_prehash(&hashed.padded(66));
            made.ok().map(|made| made.to_der().as_bytes().to_vec())
        }
        PrivateKey::NotModelled | PrivateKey::Other => None,
    }
}
