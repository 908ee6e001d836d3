//! What is refused whole.

use dragoman_keys::{
    Digest, MAX_BUCKET_BYTES, MAX_ETAG_BYTES, MAX_KEYS, MAX_RECORD_BYTES, Refusal, Written,
};
use proptest::prelude::*;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::fake::*;

#[test]
fn a_key_twice_is_refused_and_in_another_table_is_not() {
    let mut store = Store::default();
    replace(&mut store, &[1], 1);
    let mut build = begun(&mut store, 2);
    assert_eq!(add(&mut build, &mut store, 1, 2), Written::Done);
    let again = add(&mut build, &mut store, 1, 3);
    assert_eq!(again, Written::Refused(Refusal::Duplicate));
    assert_eq!(build.keys(), 1);
}

#[test]
fn a_record_of_the_largest_size_is_kept_and_a_larger_one_is_refused() {
    let mut store = Store::default();
    let mut build = begun(&mut store, 2);
    let largest = vec![7; MAX_RECORD_BYTES];
    assert_eq!(
        build.add(&mut store, &sha(1), &largest).unwrap(),
        Written::Done
    );
    let larger = vec![7; MAX_RECORD_BYTES + 1];
    let refused = Written::Refused(Refusal::RecordTooLong);
    assert_eq!(build.add(&mut store, &sha(2), &larger).unwrap(), refused);
}

#[test]
fn a_bucket_has_room_for_thirty_of_the_largest_records_and_a_bound() {
    let mut store = Store::default();
    // So few that all share one bucket.
    let mut build = begun(&mut store, 1);
    let record = vec![7; MAX_RECORD_BYTES];
    let mut last = Written::Done;
    let mut fit = 0;
    while last == Written::Done {
        last = build.add(&mut store, &sha(fit), &record).unwrap();
        fit += u32::from(last == Written::Done);
    }
    assert_eq!((fit, last), (31, Written::Refused(Refusal::TooLarge)));
    assert!(
        store
            .values
            .values()
            .all(|(value, _)| value.len() <= MAX_BUCKET_BYTES)
    );
}

#[test]
fn the_largest_table_is_kept_and_one_key_more_is_refused() {
    let mut store = Store::default();
    let mut build = begun(&mut store, MAX_KEYS);
    let written = |last: Written, key| match last {
        Written::Done => add(&mut build, &mut store, key, 1),
        other => other,
    };
    assert_eq!((0..MAX_KEYS).fold(Written::Done, written), Written::Done);
    let more = add(&mut build, &mut store, MAX_KEYS, 1);
    assert_eq!(more, Written::Refused(Refusal::TooManyKeys));
}

#[test]
fn a_table_with_a_tag_that_is_too_long_does_not_come_into_force() {
    let mut store = Store::default();
    let build = begun(&mut store, 0);
    assert!(
        !build
            .commit(&mut store, &"x".repeat(MAX_ETAG_BYTES + 1), 0)
            .unwrap()
    );
    assert_eq!(store.state().current, None);
}

proptest! {
    /// Whatever stands in shared data: no panic, and no record that nobody wrote.
    #[test]
    fn any_bytes_in_buckets_and_state_are_read_without_a_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        whole_head: bool,
        digest: Digest,
    ) {
        let mut store = Store::default();
        replace(&mut store, &[1], 1);
        let table = store.state().current.unwrap().table;
        let mut value = Vec::new();
        if whole_head {
            value.push(1);
            value.extend_from_slice(&table.id.to_le_bytes());
        }
        value.extend_from_slice(&bytes);
        store.values.insert(table.bucket_key(0), (value, 99));
        let looked = dragoman_keys::Looker::default().find(&mut store, &digest, 0).unwrap();
        prop_assert!(!matches!(looked, dragoman_keys::Found::Record(_)));

        store.values.insert(dragoman_keys::STATE_KEY.to_owned(), (bytes, 100));
        look(&mut store, 1);
        let _ = dragoman_keys::begin(&mut store, None, SALT).unwrap();
    }
}
