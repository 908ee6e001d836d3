//! How much shared data a large table takes. Prints it: `cargo test --test it memory -- --nocapture`.

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use dragoman_keys::{KEYS_PER_BUCKET, Written};
use sha2::{Digest as _, Sha256};

use crate::fake::*;

/// A usual record: ids, a tenant, an application, two models and the fixed fields.
const RECORD_BYTES: usize = 100;

#[test]
fn a_hundred_thousand_keys_take_fourteen_megabytes_in_buckets_of_a_few() {
    let mut store = Store::default();
    let keys = 100_000;
    let mut build = begun(&mut store, keys);
    for key in 0..keys {
        let digest = Sha256::digest(format!("sk-{key}")).into();
        let added = build.add(&mut store, &digest, &[7; RECORD_BYTES]).unwrap();
        assert_eq!(added, Written::Done);
    }
    assert!(build.commit(&mut store, "1", 0).unwrap());

    let buckets = store.values.len() - 1;
    let values = store.bucket_bytes();
    let names: usize = store.values.keys().map(String::len).sum();
    let largest = store.values.values().map(|(value, _)| value.len()).max();
    let largest = largest.unwrap() / (RECORD_BYTES + 34);
    println!(
        "{keys} keys: {buckets} buckets, {values} bytes of values, {names} of names, at most {largest} keys in one"
    );
    let of_records = (keys as usize) * (RECORD_BYTES + 34);
    assert_eq!(
        values,
        of_records + buckets * 9,
        "nothing but records and heads"
    );
    assert!(values + names < 14_100_000);
    assert!(largest < 4 * KEYS_PER_BUCKET as usize);
}
