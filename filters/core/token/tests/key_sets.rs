//! Sets of keys: what is taken, passed over and refused.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets the unexpected must fail"
)]

mod support;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use dragoman_token::{Key, KeySet, MAX_KEY_SET_BYTES, read_key_set};
use support::KEYS;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// A point of P-256 and one of Ed25519: their base points.
const X: &str = "axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY";
const Y: &str = "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU";
const ED: &str = "WGZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmY";

fn ec(members: &str) -> String {
    format!(r#"{{"kty":"EC","crv":"P-256","x":"{X}","y":"{Y}"{members}}}"#)
}

/// An RSA key whose modulus has these bits: the highest and the lowest are set.
fn rsa(bits: usize, members: &str) -> String {
    let mut modulus = vec![0xa5; bits.div_ceil(8)];
    *modulus.first_mut().unwrap() = 1 << ((bits - 1) % 8);
    let n = Base64UrlUnpadded::encode_string(&modulus);
    format!(r#"{{"kty":"RSA","n":"{n}"{members}}}"#)
}

fn set(keys: &[String]) -> String {
    format!(r#"{{"keys":[{}]}}"#, keys.join(","))
}

fn fault(keys: &str) -> String {
    KeySet::parse(keys.as_bytes()).unwrap_err().to_string()
}

#[test]
fn keys_for_other_purposes_are_passed_over() {
    let ids: Vec<String> = read_key_set(KEYS.as_bytes())
        .unwrap()
        .into_iter()
        .filter_map(|key| key.key_id)
        .collect();
    assert_eq!(ids, ["rsa-2048", "rsa-4096", "p256", "ed25519"]);
    for other in [
        ec(r#","use":"enc""#),
        ec(r#","key_ops":["sign"]"#),
        ec(r#","key_ops":[]"#),
        ec(r#","alg":"ES512""#),
        ec(r#","alg":"HS256""#),
        r#"{"kty":"EC","crv":"P-521","x":"","y":""}"#.to_owned(),
        r#"{"kty":"OKP","crv":"X25519","x":""}"#.to_owned(),
        r#"{"kty":"AKP","alg":"ML-DSA-44"}"#.to_owned(),
        rsa(1024, r#","e":"AQAB","use":"enc""#),
    ] {
        let keys = read_key_set(set(&[other.clone(), ec("")]).as_bytes()).unwrap();
        assert_eq!(keys.len(), 1, "{other}");
        let alone = fault(&set(&[other]));
        assert!(alone.starts_with("keys: has no key to check"), "{alone}");
    }
}

#[test]
fn keys_that_can_be_used_are_taken() {
    for key in [
        ec(""),
        ec(r#","use":"sig","alg":"ES256","key_ops":["sign","verify"],"x5c":[],"kid":"a""#),
        rsa(2048, r#","e":"AQAB""#),
        rsa(4096, r#","e":"AQAB","alg":"RS256""#),
        rsa(2049, r#","e":"AAEAAQ""#),
        rsa(2048, r#","e":"_____w""#),
        format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{ED}","alg":"EdDSA"}}"#),
        format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{ED}","alg":"Ed25519"}}"#),
    ] {
        let read = KeySet::parse(set(std::slice::from_ref(&key)).as_bytes());
        assert!(read.is_ok(), "{key}: {read:?}");
    }
}

#[test]
fn weak_and_broken_keys_are_refused_with_a_reason_and_without_their_bytes() {
    let secret = "is a secret, and a set of keys is public: withdraw the key, then give a secret of HS256 by the name of its environment variable";
    let exponent = "must be odd, 65537 or more, and below 2^32";
    for (key, expected) in [
        (
            rsa(2047, r#","e":"AQAB""#),
            "keys[1].n: has 2047 bits: must have 2048 to 4096",
        ),
        (
            rsa(4097, r#","e":"AQAB""#),
            "keys[1].n: has 4097 bits: must have 2048 to 4096",
        ),
        (
            format!(r#"{{"kty":"RSA","n":"{}","e":"AQAB"}}"#, "A".repeat(400)),
            "keys[1].n: has 0 bits: must have 2048 to 4096",
        ),
        (
            format!(r#"{{"kty":"RSA","n":"{}AA","e":"AQAB"}}"#, "_".repeat(342)),
            "keys[1].n: must be odd",
        ),
        (rsa(2048, ""), "keys[1].e: is required"),
        (rsa(2048, r#","e":"Aw""#), &format!("keys[1].e: {exponent}")),
        (
            rsa(2048, r#","e":"AQAA""#),
            &format!("keys[1].e: {exponent}"),
        ),
        (
            rsa(2048, r#","e":"AQAAAAE""#),
            &format!("keys[1].e: {exponent}"),
        ),
        (rsa(2048, r#","e":"""#), &format!("keys[1].e: {exponent}")),
        (
            rsa(2048, r#","e":"AQAB=""#),
            "keys[1].e: must be base64url without padding",
        ),
        (rsa(2048, r#","e":65537"#), "keys[1].e: must be a string"),
        (
            rsa(2048, r#","e":"AQAB","d":"AQ""#),
            &format!("keys[1]: {secret}"),
        ),
        (
            r#"{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ"}"#.to_owned(),
            &format!("keys[1]: {secret}"),
        ),
        (r#"{"kid":"a"}"#.to_owned(), "keys[1].kty: is required"),
        (
            r#"{"kty":"EC","x":"","y":""}"#.to_owned(),
            "keys[1].crv: is required",
        ),
        (
            format!(r#"{{"kty":"EC","crv":"P-256","x":"{X}","y":"{X}"}}"#),
            "keys[1].x: x and y must be a point of the curve P-256",
        ),
        (
            format!(r#"{{"kty":"EC","crv":"P-256","x":"{X}","y":"AA"}}"#),
            "keys[1].y: must have 32 bytes",
        ),
        (
            format!(
                r#"{{"kty":"OKP","crv":"Ed25519","x":"{}"}}"#,
                "A".repeat(43)
            ),
            "keys[1].x: must be a point of the curve Ed25519 of full order",
        ),
        (ec(r#","kid":"""#), "keys[1].kid: must have 1 to 256 bytes"),
        (ec(r#","kid":7"#), "keys[1].kid: must be a string"),
        (
            ec(r#","kid":"taken""#),
            "keys[1].kid: is the id of another key already",
        ),
        (
            ec(r#","key_ops":"verify""#),
            "keys[1].key_ops: must be a list of strings",
        ),
        ("[]".to_owned(), "keys[1]: must be an object"),
    ] {
        let keys = set(&[ec(r#","kid":"taken""#), key]);
        assert_eq!(fault(&keys), expected, "{keys}");
    }
}

#[test]
fn a_fault_names_the_place_in_the_set_also_behind_keys_that_are_passed_over() {
    let other = r#"{"kty":"AKP"}"#.to_owned();
    let off_curve = format!(r#"{{"kty":"EC","crv":"P-256","x":"{X}","y":"{X}"}}"#);
    let keys = set(&[other, ec(""), off_curve]);
    assert!(fault(&keys).starts_with("keys[2].x: "), "{}", fault(&keys));
}

#[test]
fn a_key_that_is_added_has_an_id_of_its_own() {
    let mut keys = KeySet::parse(set(&[ec(r#","kid":"a""#)]).as_bytes()).unwrap();
    let key = |id: Option<&str>| Key::secret(id.map(str::to_owned), &[7; 32]).unwrap();
    assert!(keys.add(key(Some("b"))).is_ok());
    assert!(keys.add(key(None)).is_ok() && keys.add(key(None)).is_ok());
    for taken in ["a", "b"] {
        let fault = keys.add(key(Some(taken))).unwrap_err();
        assert_eq!(fault.to_string(), "kid: is the id of another key already");
    }
}

#[test]
fn what_is_no_set_of_keys_is_refused_whole() {
    let no_object = "must be a JSON object without repeated names";
    let full = vec![ec(""); 32];
    assert_eq!(read_key_set(set(&full).as_bytes()).unwrap().len(), 32);
    for (text, expected) in [
        (String::new(), no_object),
        ("[]".to_owned(), no_object),
        (
            set(&[ec("")]).replace("{\"keys\"", "{\"keys\":[],\"keys\""),
            no_object,
        ),
        (set(&[ec(r#","kty":"EC""#)]), no_object),
        (set(&[ec("")])[1..].to_owned(), no_object),
        ("{}".to_owned(), "keys: must be a list"),
        (r#"{"keys":{}}"#.to_owned(), "keys: must be a list"),
        (
            set(&[]),
            "keys: has no key to check RS256, ES256 or EdDSA signatures with",
        ),
        (
            set(&vec![ec(""); 33]),
            "keys: has 33 keys: must have at most 32",
        ),
        (
            " ".repeat(MAX_KEY_SET_BYTES + 1),
            "has 65537 bytes: must have at most 65536",
        ),
    ] {
        assert_eq!(fault(&text), expected, "{text}");
    }
}

#[test]
fn a_secret_has_at_least_as_many_bytes_as_the_digest() {
    let fault = Key::secret(None, &[7; 31]).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "has 31 bytes: must have 32 or more, all of them random"
    );
    assert!(Key::secret(None, b"").is_err());
    let key = Key::secret(Some("a".to_owned()), &[7; 32]).unwrap();
    assert_eq!(format!("{key:?}"), r#"Key(Hs256, Some("a"))"#);
}
