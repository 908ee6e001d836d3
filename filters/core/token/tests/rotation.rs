//! How long the keys of an issuer are kept when it changes them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected must fail"
)]

mod support;

use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use dragoman_token::{Jwk, KeptKeys, Key, KeySet, MAX_KEPT_KEYS, Refusal, read_key_set};
use support::{KEYS, SECRET, admit, claims, issuer, signed};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// The four keys of the vectors: RSA twice, P-256, Ed25519.
fn four() -> Vec<Jwk> {
    read_key_set(KEYS.as_bytes()).unwrap()
}

fn some(places: &[usize]) -> Vec<Jwk> {
    let keys = four();
    places.iter().map(|place| keys[*place].clone()).collect()
}

/// Ids and ends of what is kept.
fn shown(kept: &KeptKeys) -> Vec<(&str, Option<u64>)> {
    kept.keys
        .iter()
        .map(|kept| (kept.key.key_id.as_deref().unwrap_or("-"), kept.until_s))
        .collect()
}

#[test]
fn a_key_that_left_the_set_stays_for_the_overlap() {
    let first = KeptKeys::default().replaced_by(some(&[0, 2]), 100, 600);
    assert_eq!(shown(&first), [("rsa-2048", None), ("p256", None)]);

    let second = first.replaced_by(some(&[2, 3]), 200, 600);
    assert_eq!(
        shown(&second),
        [("p256", None), ("ed25519", None), ("rsa-2048", Some(800))]
    );
    // What left before keeps its end.
    let third = second.replaced_by(some(&[3]), 500, 600);
    assert_eq!(
        shown(&third),
        [
            ("ed25519", None),
            ("p256", Some(1100)),
            ("rsa-2048", Some(800))
        ]
    );
    let fourth = third.replaced_by(some(&[3]), 800, 600);
    assert_eq!(shown(&fourth), [("ed25519", None), ("p256", Some(1100))]);
    // One comes back.
    let fifth = fourth.replaced_by(some(&[2, 3]), 900, 600);
    assert_eq!(shown(&fifth), [("p256", None), ("ed25519", None)]);
}

#[test]
fn without_an_overlap_a_key_leaves_at_once() {
    let first = KeptKeys::default().replaced_by(some(&[0]), 100, 0);
    assert_eq!(
        shown(&first.replaced_by(some(&[3]), 100, 0)),
        [("ed25519", None)]
    );
}

#[test]
fn an_id_that_names_another_key_now_does_not_name_the_former_one_too() {
    let first = KeptKeys::default().replaced_by(some(&[0, 2]), 100, 600);
    let mut same_id = some(&[3]);
    same_id[0].key_id = Some("p256".to_owned());
    let second = first.replaced_by(same_id, 100, 600);
    assert_eq!(shown(&second), [("p256", None), ("rsa-2048", Some(700))]);
    assert!(second.has_id("rsa-2048") && !second.has_id("ed25519"));
}

#[test]
fn a_key_without_an_id_goes_when_another_of_its_kind_comes() {
    let mut nameless = four();
    nameless.iter_mut().for_each(|key| key.key_id = None);
    let first =
        KeptKeys::default().replaced_by(vec![nameless[0].clone(), nameless[2].clone()], 100, 600);
    let second = first.replaced_by(vec![nameless[1].clone()], 200, 600);
    assert_eq!(shown(&second), [("-", None), ("-", Some(800))]);
    assert_eq!(second.keys[0].key, nameless[1]);
    assert_eq!(second.keys[1].key, nameless[2]);
}

#[test]
fn published_keys_stand_beside_those_that_are_given_and_end_when_their_time_is_over() {
    let first = KeptKeys::default().replaced_by(some(&[2]), 100, 600);
    let kept = first.replaced_by(some(&[3]), 200, 600);
    let given = KeySet::new(vec![
        Key::secret(Some("ed25519".to_owned()), SECRET).unwrap(),
    ]);
    let all = given.with_published(&kept).unwrap();
    // The published one with the id of the secret is passed over.
    assert_eq!(
        format!("{all:?}"),
        r#"KeySet { keys: [Key(Hs256, Some("ed25519")), Key(Es256, Some("p256"))] }"#
    );
    let token = |kid: &str| signed(&format!(r#"{{"alg":"ES256","kid":"{kid}"}}"#), &claims(&[]));
    let rules = issuer();
    let at = |seconds| {
        let token = token("p256");
        admit(&rules, &all, token.as_bytes(), Duration::from_secs(seconds)).unwrap_err()
    };
    let issued = 1_800_000_000;
    assert_eq!(at(issued), Refusal::UnknownKey, "it left long ago");
    let kept = first.replaced_by(some(&[3]), issued, 600);
    let all = given.with_published(&kept).unwrap();
    let at = |seconds| {
        let token = token("p256");
        admit(&rules, &all, token.as_bytes(), Duration::from_secs(seconds)).unwrap_err()
    };
    assert_eq!(at(issued + 599), Refusal::Signature);
    assert_eq!(at(issued + 600), Refusal::UnknownKey);
}

#[test]
fn what_is_kept_is_bounded_and_the_oldest_go_first() {
    let set_of = |number: u8| {
        let x = Base64UrlUnpadded::encode_string(&[number; 32]);
        let set =
            format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","kid":"{number}","x":"{x}"}}]}}"#);
        read_key_set(set.as_bytes()).unwrap()
    };
    let mut kept = KeptKeys::default();
    for number in 0..200 {
        kept = kept.replaced_by(set_of(number), number.into(), 1000);
    }
    assert_eq!(kept.keys.len(), MAX_KEPT_KEYS);
    let ends: Vec<Option<u64>> = kept.keys.iter().map(|key| key.until_s).collect();
    // The one before the last left when the last came, at 199, and so on.
    assert_eq!(&ends[..3], [None, Some(1199), Some(1198)]);
    assert_eq!(ends.last(), Some(&Some(1137)));
}

#[test]
fn what_is_kept_reads_as_it_was_written() {
    let mut keys = four();
    keys[0].key_id = None;
    keys[1].key_id = Some("\"\\\u{1}\u{e9}".to_owned());
    for (place, key) in keys.iter_mut().enumerate() {
        key.place = place;
    }
    let kept = KeptKeys::default().replaced_by(keys.clone(), 100, 600);
    let kept = kept.replaced_by(keys[..2].to_vec(), 200, 600);
    let bytes = kept.encode();
    let read = KeptKeys::decode(&bytes).unwrap();
    assert_eq!(shown(&read), shown(&kept));
    assert_eq!(read.encode(), bytes);
    for cut in 0..bytes.len() {
        assert_eq!(KeptKeys::decode(&bytes[..cut]), None);
    }
    assert_eq!(
        KeptKeys::decode(&KeptKeys::default().encode()),
        Some(KeptKeys::default())
    );
    for text in [
        "",
        "{}",
        r#"{"keys":{}}"#,
        r#"{"keys":[1]}"#,
        r#"{"keys":[{"kty":"AKP"}]}"#,
    ] {
        assert_eq!(KeptKeys::decode(text.as_bytes()), None, "{text}");
    }
}
