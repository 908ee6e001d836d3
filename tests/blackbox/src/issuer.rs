//! Somebody who issues signed tokens: keys that everybody knows, for tests alone.

use std::time::{SystemTime, UNIX_EPOCH};

use base64ct::{Base64UrlUnpadded, Encoding as _};
use ed25519_dalek::Signer as _;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rsa::signature::SignatureEncoding as _;
use rsa::traits::PublicKeyParts as _;
use serde_json::{Value, json};
use sha2::Sha256;

/// The secret of HS256.
pub const SECRET: &str = "a secret for tests of 44 bytes, known to all";

/// The primes of the RSA key, which has 2048 bits.
const PRIMES: [&str; 2] = [
    "dbc454fbcea252f4de703b844d0ba4095604ff98f79ff1380d6b9026bc10006967d4571fcd393ec53839469be1e039bc442fbbe492b9b5ce5a992164a500d0693188f7efa0a3ad6b348d18f0a2f31d11f9163d8f3286409569d86b69c585c2d28ec457ebc29a1fa2182816b71dcbd546aa039b44d22bc0b87d1a7fce33a38959",
    "cd0938201f126fa72a4c321b1cdf27f71c7e051639eb25a3b5a53375b14cd86d1e9d38a07dc20dcfff6dbf84b70b703ebf98f03d07cff91f77e232c4272079b81fb62de72c4ff15a9b27d2ddd7cff489eeea838299a27b69278579d9a2a9e1f5f5cd4edc537cba81b2881b1c0c86e042a52b9112545a14211d98a6b16a5564ef",
];

/// What a token is signed with. The number of a public key says which one of many it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignWith {
    /// [`SECRET`], under the key id `shared`.
    Hs256,
    /// The RSA key, under `rsa`.
    Rs256,
    /// A key of P-256, under `p256-<number>`.
    Es256(u8),
    /// A key of Ed25519, under `ed25519-<number>`.
    EdDsa(u8),
}

impl SignWith {
    /// The key's id.
    #[must_use]
    pub fn key_id(self) -> String {
        match self {
            Self::Hs256 => "shared".to_owned(),
            Self::Rs256 => "rsa".to_owned(),
            Self::Es256(number) => format!("p256-{number}"),
            Self::EdDsa(number) => format!("ed25519-{number}"),
        }
    }

    /// Its public half as a key set has it.
    ///
    /// # Panics
    /// A secret has none.
    #[must_use]
    pub fn jwk(self) -> Value {
        let kid = self.key_id();
        match self {
            Self::Hs256 => panic!("a secret has no public half"),
            Self::Rs256 => {
                let key = rsa_key();
                let number =
                    |number: &rsa::BoxedUint| base64url(&number.to_be_bytes_trimmed_vartime());
                json!({"kty": "RSA", "kid": kid, "n": number(key.n()), "e": number(key.e())})
            }
            Self::Es256(number) => {
                let point = p256_key(number).verifying_key().to_sec1_point(false);
                let (x, y) = (
                    point.x().expect("no infinity"),
                    point.y().expect("not compressed"),
                );
                json!({"kty": "EC", "kid": kid, "crv": "P-256", "x": base64url(x), "y": base64url(y)})
            }
            Self::EdDsa(number) => {
                let public = ed25519_key(number).verifying_key();
                json!({"kty": "OKP", "kid": kid, "crv": "Ed25519", "x": base64url(public.as_bytes())})
            }
        }
    }

    /// A token with the usual header.
    #[must_use]
    pub fn token(self, claims: &Value) -> String {
        let header = json!({"alg": self.algorithm(), "kid": self.key_id(), "typ": "JWT"});
        self.sign(&header, claims)
    }

    /// A token with this header, whatever it says.
    ///
    /// # Panics
    /// Never, with keys that are known to be good.
    #[must_use]
    pub fn sign(self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| base64url(value.to_string().as_bytes());
        let signed = format!("{}.{}", part(header), part(claims));
        let bytes = signed.as_bytes();
        let signature = match self {
            Self::Hs256 => {
                let mut state =
                    Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("any length");
                state.update(bytes);
                state.finalize().into_bytes().to_vec()
            }
            Self::Rs256 => rsa::pkcs1v15::SigningKey::<Sha256>::new(rsa_key())
                .sign(bytes)
                .to_vec(),
            Self::Es256(number) => {
                let signature: p256::ecdsa::Signature = p256_key(number).sign(bytes);
                signature.to_bytes().to_vec()
            }
            Self::EdDsa(number) => ed25519_key(number).sign(bytes).to_bytes().to_vec(),
        };
        format!("{signed}.{}", base64url(&signature))
    }

    fn algorithm(self) -> &'static str {
        match self {
            Self::Hs256 => "HS256",
            Self::Rs256 => "RS256",
            Self::Es256(_) => "ES256",
            Self::EdDsa(_) => "EdDSA",
        }
    }
}

/// A key set of these.
#[must_use]
pub fn jwks(keys: &[SignWith]) -> Value {
    let keys: Vec<Value> = keys.iter().map(|key| key.jwk()).collect();
    json!({"keys": keys})
}

/// Seconds since 1970.
#[must_use]
pub fn now() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    elapsed.map_or(0, |elapsed| elapsed.as_secs())
}

/// Bytes in base64url.
#[must_use]
pub fn base64url(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}

fn rsa_key() -> rsa::PrivateKey {
    let prime = |hex: &str| rsa::BoxedUint::from_be_hex(hex, 1024).expect("1024 bits");
    let [p, q] = PRIMES.map(prime);
    rsa::PrivateKey::from_p_q(p, q, rsa::BoxedUint::from(65_537u64)).expect("two primes")
}

fn p256_key(number: u8) -> p256::ecdsa::SigningKey {
    p256::ecdsa::SigningKey::from_slice(&[number.saturating_add(1); 32]).expect("below the order")
}

fn ed25519_key(number: u8) -> ed25519_dalek::SigningKey {
    ed25519_dalek::SigningKey::from_bytes(&[number; 32])
}
