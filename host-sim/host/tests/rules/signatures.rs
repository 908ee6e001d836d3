//! `sign` and `verify_signature`. The texts and statuses are those of a running Envoy 1.40; the
//! signatures in `keys` were made by OpenSSL over `text` with SHA-256.

use host_sim_host::abi::{Answer, HostCalls, Refusal, Status};

use crate::foreign::in_request;

const BAD: Refusal = Refusal::Tell(Status::BadArgument);
const RIGHT: &[u8] = &[0x08, 1];

macro_rules! key {
    ($name:literal) => {
        include_bytes!(concat!("keys/", $name)).as_slice()
    };
}

/// A field of a message with bytes; none if there are none.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let length = match bytes.len() {
        0 => return Vec::new(),
        short if short < 0x80 => vec![short as u8],
        long => vec![(long & 0x7f) as u8 | 0x80, (long >> 7) as u8],
    };
    [&[number << 3 | 2], &length[..], bytes].concat()
}

/// Where the key goes.
#[derive(Clone, Copy)]
enum Key<'a> {
    Der(&'a [u8]),
    Pem(&'a [u8]),
}

impl Key<'_> {
    fn fields(self, pem_field: u8) -> Vec<u8> {
        match self {
            Key::Der(bytes) => field(2, bytes),
            Key::Pem(bytes) => field(pem_field, bytes),
        }
    }
}

fn verify(
    host: &mut dyn HostCalls,
    hash: &str,
    key: Key<'_>,
    signature: &[u8],
    text: &[u8],
) -> Answer<Vec<u8>> {
    let rest = [
        key.fields(5),
        field(3, signature),
        field(4, text),
        field(1, hash.as_bytes()),
    ];
    host.call_foreign_function(b"verify_signature", &rest.concat())
}

fn sign(host: &mut dyn HostCalls, hash: &str, key: Key<'_>, text: &[u8]) -> Answer<Vec<u8>> {
    let rest = [key.fields(4), field(3, text), field(1, hash.as_bytes())];
    host.call_foreign_function(b"sign", &rest.concat())
}

/// The signature within an answer of `sign`.
fn made(answer: &[u8]) -> &[u8] {
    let rest = answer.strip_prefix(&[8, 1, 0x12]).expect("a signature");
    let head = if rest[0] < 0x80 { 1 } else { 2 };
    &rest[head..]
}

#[test]
fn a_signature_of_openssl_is_right_for_its_key_and_text_alone() {
    in_request(|host| {
        for (key, signature) in [
            (Key::Der(key!("rsa.pub.der")), key!("rsa.sig")),
            (Key::Pem(key!("rsa.pub.pem")), key!("rsa.sig")),
            (Key::Der(key!("P-256.pub.der")), key!("P-256.sig")),
            (Key::Pem(key!("P-256.pub.pem")), key!("P-256.sig")),
            (Key::Pem(key!("P-384.pub.pem")), key!("P-384.sig")),
            (Key::Pem(key!("P-521.pub.pem")), key!("P-521.sig")),
        ] {
            let right = verify(host, "sha256", key, signature, b"text");
            assert_eq!(right, Ok(RIGHT.to_vec()));

            let no = Ok(field(2, b"Failed to verify digest. Error code: 0"));
            assert_eq!(verify(host, "sha256", key, signature, b""), no);
            assert_eq!(verify(host, "sha256", key, signature, b"other"), no);
            assert_eq!(verify(host, "sha384", key, signature, b"text"), no);
            assert_eq!(verify(host, "sha256", key, b"junk", b"text"), no);
            assert_eq!(verify(host, "sha256", key, b"", b"text"), no);
        }
        let other = Key::Pem(key!("P-256.pub.pem"));
        let no = Ok(field(2, b"Failed to verify digest. Error code: 0"));
        assert_eq!(verify(host, "sha256", other, key!("rsa.sig"), b"text"), no);
    });
}

#[test]
fn what_is_signed_can_be_verified_with_each_hash_and_is_the_same_each_time() {
    in_request(|host| {
        for (private, public) in [
            (Key::Der(key!("rsa.der")), key!("rsa.pub.pem")),
            (Key::Pem(key!("rsa.pem")), key!("rsa.pub.pem")),
            (Key::Pem(key!("rsa1.pem")), key!("rsa.pub.pem")),
            (Key::Der(key!("P-256.der")), key!("P-256.pub.pem")),
            (Key::Pem(key!("P-256.sec1.pem")), key!("P-256.pub.pem")),
            (Key::Pem(key!("P-384.pem")), key!("P-384.pub.pem")),
            (Key::Pem(key!("P-521.pem")), key!("P-521.pub.pem")),
        ] {
            for hash in ["sha1", "sha224", "sha256", "sha384", "sha512", "SHA256"] {
                for text in [&b"text"[..], b""] {
                    let answer = sign(host, hash, private, text).expect("a signature");
                    let right = verify(host, hash, Key::Pem(public), made(&answer), text);
                    assert_eq!(right, Ok(RIGHT.to_vec()), "{hash}");
                    assert_eq!(sign(host, hash, private, text), Ok(answer));
                }
            }
        }
        let answer = sign(host, "sha256", Key::Der(key!("rsa.der")), b"text");
        assert_eq!(made(&answer.unwrap()), key!("rsa.sig"));
    });
}

#[test]
fn what_cannot_be_done_is_said_in_the_answer() {
    in_request(|host| {
        let public = Key::Pem(key!("rsa.pub.pem"));
        let unknown = b"md5 is not supported.";
        assert_eq!(
            verify(host, "md5", public, b"x", b"text"),
            Ok(field(2, unknown))
        );
        let private = Key::Pem(key!("rsa.pem"));
        assert_eq!(sign(host, "md5", private, b"text"), Ok(field(3, unknown)));

        for junk in [Key::Der(b"junk"), Key::Pem(b"junk")] {
            let text = b"Failed to initialize digest verify.";
            assert_eq!(
                verify(host, "sha256", junk, b"x", b"text"),
                Ok(field(2, text))
            );
            let text = b"Invalid key type: private key required for signing operation.";
            assert_eq!(sign(host, "sha256", junk, b"text"), Ok(field(3, text)));
        }
        let text = b"Invalid private key: key data is corrupted or malformed.";
        let ed = Key::Pem(key!("ed.pem"));
        assert_eq!(sign(host, "sha256", ed, b"text"), Ok(field(3, text)));
    });
}

#[test]
fn one_key_is_wanted_and_no_more() {
    in_request(|host| {
        let both = [field(1, b"sha256"), field(2, b"x"), field(4, b"x")].concat();
        assert_eq!(host.call_foreign_function(b"sign", &both), Err(BAD));
        let both = [field(1, b"sha256"), field(2, b"x"), field(5, b"x")].concat();
        assert_eq!(
            host.call_foreign_function(b"verify_signature", &both),
            Err(BAD)
        );
        for name in [&b"sign"[..], b"verify_signature"] {
            for argument in [&field(1, b"sha256")[..], b"", b"\xff"] {
                assert_eq!(host.call_foreign_function(name, argument), Err(BAD));
            }
        }
    });
}

#[test]
fn the_curve_p224_is_refused() {
    in_request(|host| {
        let refused = Err(Refusal::Tell(Status::Unimplemented));
        let public = Key::Pem(key!("P-224.pub.pem"));
        assert_eq!(verify(host, "sha256", public, b"x", b"text"), refused);
        let private = Key::Pem(key!("P-224.pem"));
        assert_eq!(sign(host, "sha256", private, b"text"), refused);
    });
}
