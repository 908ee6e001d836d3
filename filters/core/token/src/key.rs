//! A key that is ready to check signatures. Its kind fixes the algorithm: there is no way to use an
//! RSA key as the secret of an HMAC.

use std::fmt;
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use rsa::signature::Verifier as _;
use sha2::Sha256;

use crate::header::Algorithm;
use crate::jwk::{Jwk, KeyFault, MAX_RSA_BITS, MIN_RSA_BITS, Material};

/// Shortest secret of HS256, in bytes: as long as the digest, as RFC 7518 asks.
pub const MIN_SECRET_BYTES: usize = 32;

/// A key and its id.
#[derive(Clone)]
pub struct Key {
    pub(crate) key_id: Option<String>,
    /// When it stops being usable, since 1970.
    pub(crate) until: Option<Duration>,
    check: Check,
}

#[derive(Clone)]
enum Check {
    /// The state after the secret was taken in, so that it costs nothing for each token.
    Hs256(Box<Hmac<Sha256>>),
    Rs256(Box<rsa::pkcs1v15::VerifyingKey<Sha256>>),
    Es256(Box<p256::ecdsa::VerifyingKey>),
    EdDsa(Box<ed25519_dalek::VerifyingKey>),
}

impl Key {
    /// A secret that is shared with the issuer.
    ///
    /// # Errors
    /// It has fewer than [`MIN_SECRET_BYTES`].
    pub fn secret(key_id: Option<String>, secret: &[u8]) -> Result<Self, KeyFault> {
        if secret.len() < MIN_SECRET_BYTES {
            let reason = format!(
                "has {} bytes: must have {MIN_SECRET_BYTES} or more, all of them random",
                secret.len()
            );
            return Err(KeyFault::new("", reason));
        }
        let state =
            Hmac::new_from_slice(secret).map_err(|_| KeyFault::new("", "cannot be used"))?;
        Ok(Self {
            key_id,
            until: None,
            check: Check::Hs256(Box::new(state)),
        })
    }

    /// A public key.
    ///
    /// # Errors
    /// A point that is not on its curve.
    pub fn public(key: &Jwk) -> Result<Self, KeyFault> {
        let check = match &key.material {
            Material::Rsa { modulus, exponent } => rsa(modulus, exponent)?,
            Material::P256 { x, y } => p256(x, y)?,
            Material::Ed25519 { x } => ed25519(x)?,
        };
        Ok(Self {
            key_id: key.key_id.clone(),
            until: None,
            check,
        })
    }

    /// Whether the point of a public key is on its curve. Numbers of RSA were looked at when they were
    /// read.
    pub(crate) fn check_point(key: &Jwk) -> Result<(), KeyFault> {
        match &key.material {
            Material::Rsa { .. } => Ok(()),
            Material::P256 { x, y } => p256(x, y).map(|_| ()),
            Material::Ed25519 { x } => ed25519(x).map(|_| ()),
        }
    }

    /// The same key, usable until then (since 1970).
    #[must_use]
    pub fn until(self, until: Option<Duration>) -> Self {
        Self { until, ..self }
    }

    /// The one algorithm that it is used with.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        match self.check {
            Check::Hs256(_) => Algorithm::Hs256,
            Check::Rs256(_) => Algorithm::Rs256,
            Check::Es256(_) => Algorithm::Es256,
            Check::EdDsa(_) => Algorithm::EdDsa,
        }
    }

    pub(crate) fn is_usable(&self, now: Duration) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    /// Whether this key made this signature of these bytes. A secret is compared in constant time.
    pub(crate) fn made(&self, signed: &[u8], signature: &[u8]) -> bool {
        match &self.check {
            Check::Hs256(state) => {
                let mut state = Hmac::clone(state);
                state.update(signed);
                state.verify_slice(signature).is_ok()
            }
            Check::Rs256(key) => rsa::pkcs1v15::Signature::try_from(signature)
                .is_ok_and(|signature| key.verify(signed, &signature).is_ok()),
            Check::Es256(key) => p256::ecdsa::Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify(signed, &signature).is_ok()),
            Check::EdDsa(key) => ed25519_dalek::Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify_strict(signed, &signature).is_ok()),
        }
    }
}

fn rsa(modulus: &[u8], exponent: &[u8]) -> Result<Check, KeyFault> {
    let number = rsa::BoxedUint::from_be_slice_vartime;
    let bits = MIN_RSA_BITS..=MAX_RSA_BITS;
    let key = rsa::PublicKey::new_with_size_limits(number(modulus), number(exponent), bits)
        .map_err(|fault| KeyFault::new("n", fault.to_string()))?;
    Ok(Check::Rs256(Box::new(rsa::pkcs1v15::VerifyingKey::new(
        key,
    ))))
}

fn p256(x: &[u8; 32], y: &[u8; 32]) -> Result<Check, KeyFault> {
    let point = [&[4], x.as_slice(), y.as_slice()].concat();
    let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(&point)
        .map_err(|_| KeyFault::new("x", "x and y must be a point of the curve P-256"))?;
    Ok(Check::Es256(Box::new(key)))
}

fn ed25519(x: &[u8; 32]) -> Result<Check, KeyFault> {
    let key = ed25519_dalek::VerifyingKey::from_bytes(x)
        .ok()
        .filter(|key| !key.is_weak())
        .ok_or_else(|| KeyFault::new("x", "must be a point of the curve Ed25519 of full order"))?;
    Ok(Check::EdDsa(Box::new(key)))
}

impl fmt::Debug for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Key({:?}, {:?})", self.algorithm(), self.key_id)
    }
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;
    use crate::compact::decode;
    use crate::key_set::read_key_set;

    /// The claims of the examples of RFC 7515, appendix A.
    const CLAIMS: &str = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";

    fn public(key: &str) -> Key {
        let keys = read_key_set(format!("{{\"keys\":[{key}]}}").as_bytes()).unwrap();
        Key::public(keys.first().unwrap()).unwrap()
    }

    /// The signature is good for these bytes alone, and only whole.
    fn check(key: &Key, header: &str, claims: &str, signature: &str) {
        let signed = format!("{header}.{claims}");
        let signature = decode(signature.as_bytes()).unwrap();
        assert!(key.made(signed.as_bytes(), &signature));
        assert!(!key.made(&signed.as_bytes()[1..], &signature));
        assert!(!key.made(signed.as_bytes(), &signature[1..]));
        assert!(!key.made(signed.as_bytes(), &[signature.as_slice(), &[0]].concat()));
        assert!(!key.made(signed.as_bytes(), &[]));
    }

    #[test]
    fn the_example_of_rfc_7515_a_1_is_verified() {
        let secret = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
        let key = Key::secret(None, &decode(secret.as_bytes()).unwrap()).unwrap();
        let header = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9";
        check(
            &key,
            header,
            CLAIMS,
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
        );
    }

    #[test]
    fn the_example_of_rfc_7515_a_2_is_verified() {
        let key = public(
            r#"{"kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"}"#,
        );
        let signature = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
        check(&key, "eyJhbGciOiJSUzI1NiJ9", CLAIMS, signature);
    }

    #[test]
    fn the_example_of_rfc_7515_a_3_is_verified() {
        let key = public(
            r#"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
        );
        let signature = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
        check(&key, "eyJhbGciOiJFUzI1NiJ9", CLAIMS, signature);
    }

    #[test]
    fn the_example_of_rfc_8037_a_4_is_verified() {
        let key = public(
            r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
        );
        let signature = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
        check(
            &key,
            "eyJhbGciOiJFZERTQSJ9",
            "RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
            signature,
        );
    }
}
