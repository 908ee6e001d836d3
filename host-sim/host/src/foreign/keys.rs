//! Keys of guests: RSA and the elliptic curves of BoringSSL, in DER and PEM.

use rsa::pkcs1::DecodeRsaPrivateKey;
use rsa::pkcs8::spki::SubjectPublicKeyInfoRef;
use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey, PrivateKeyInfoRef};
use rsa::{PrivateKey as RsaPrivateKey, PublicKey as RsaPublicKey};

use super::der::{first_element, pem_block};

/// The name of P-224 within a key.
const P224: &[u8] = &[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x21];

/// A key that can verify.
pub(super) enum PublicKey {
    Rsa(Box<RsaPublicKey>),
    P256(p256::ecdsa::VerifyingKey),
    P384(p384::ecdsa::VerifyingKey),
    P521(p521::ecdsa::VerifyingKey),
    /// Envoy knows the curve.
    NotModelled,
}

/// A key that can sign.
pub(super) enum PrivateKey {
    Rsa(Box<RsaPrivateKey>),
    P256(p256::ecdsa::SigningKey),
    P384(p384::ecdsa::SigningKey),
    P521(p521::ecdsa::SigningKey),
    /// Envoy knows the curve.
    NotModelled,
    /// A key of another kind.
    Other,
}

impl PublicKey {
    /// `SubjectPublicKeyInfo`.
    pub(super) fn from_der(der: &[u8]) -> Option<Self> {
        let der = first_element(der)?;
        SubjectPublicKeyInfoRef::try_from(der).ok()?;
        if let Ok(key) = RsaPublicKey::from_public_key_der(der) {
            return Some(Self::Rsa(Box::new(key)));
        }
        if let Ok(key) = p256::ecdsa::VerifyingKey::from_public_key_der(der) {
            return Some(Self::P256(key));
        }
        if let Ok(key) = p384::ecdsa::VerifyingKey::from_public_key_der(der) {
            return Some(Self::P384(key));
        }
        if is_p224(der) {
            return Some(Self::NotModelled);
        }
        let key = p521::ecdsa::VerifyingKey::from_public_key_der(der).ok()?;
        Some(Self::P521(key))
    }

    pub(super) fn from_pem(text: &[u8]) -> Option<Self> {
        let (_, der) = pem_block(text, &["PUBLIC KEY"])?;
        Self::from_der(&der)
    }
}

impl PrivateKey {
    /// PKCS #8.
    pub(super) fn from_der(der: &[u8]) -> Option<Self> {
        let der = first_element(der)?;
        PrivateKeyInfoRef::try_from(der).ok()?;
        if let Ok(key) = RsaPrivateKey::from_pkcs8_der(der) {
            return Some(Self::Rsa(Box::new(key)));
        }
        if let Ok(key) = p256::SecretKey::from_pkcs8_der(der) {
            return Some(Self::P256(key.into()));
        }
        if let Ok(key) = p384::SecretKey::from_pkcs8_der(der) {
            return Some(Self::P384(key.into()));
        }
        if let Ok(key) = p521::SecretKey::from_pkcs8_der(der) {
            return Some(Self::P521(key.into()));
        }
        Some(if is_p224(der) {
            Self::NotModelled
        } else {
            Self::Other
        })
    }

    /// PKCS #8, or the older forms of RSA and elliptic curves.
    pub(super) fn from_pem(text: &[u8]) -> Option<Self> {
        let labels = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"];
        let (label, der) = pem_block(text, &labels)?;
        match label {
            "PRIVATE KEY" => Self::from_der(&der),
            "RSA PRIVATE KEY" => {
                let key = RsaPrivateKey::from_pkcs1_der(&der).ok()?;
                Some(Self::Rsa(Box::new(key)))
            }
            _ => Self::from_sec1(&der),
        }
    }

    fn from_sec1(der: &[u8]) -> Option<Self> {
        if let Ok(key) = p256::SecretKey::from_sec1_der(der) {
            return Some(Self::P256(key.into()));
        }
        if let Ok(key) = p384::SecretKey::from_sec1_der(der) {
            return Some(Self::P384(key.into()));
        }
        if is_p224(der) {
            return Some(Self::NotModelled);
        }
        let key = p521::SecretKey::from_sec1_der(der).ok()?;
        Some(Self::P521(key.into()))
    }
}

fn is_p224(der: &[u8]) -> bool {
    der.windows(P224.len()).any(|piece| piece == P224)
}
