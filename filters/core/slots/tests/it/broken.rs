//! Bytes that no version of this code has written.

use dragoman_slots::{Outcome, Pool, PoolBounds, Read, Write};
use proptest::prelude::*;

use crate::fake::*;

const RECORDS: [(&str, u32, &[u8]); 3] = [("a", 1, b"first"), ("b", 2, b"second!"), ("a", 3, b"")];

/// A slot of [`RECORDS`].
fn slot() -> Vec<u8> {
    let (map, mut store) = (refusing(9, 9), Store::default());
    for (tenant, id, payload) in RECORDS {
        put(&map, &mut store, &key(tenant, id), 0, (payload, 100));
    }
    store.value(SLOT).unwrap().to_vec()
}

/// Whoever reads these bytes sees their own record, as it was or changed in place, or none.
fn check(bytes: &[u8], changed: Option<usize>) {
    let map = refusing(9, 9);
    for (tenant, id, payload) in RECORDS {
        let mut store = Store::default();
        store.put(SLOT, bytes);
        match read(&map, &mut store, &key(tenant, id), 0) {
            Read::Found(found) => {
                let differ = found.iter().zip(payload).filter(|(a, b)| a != b).count();
                assert_eq!(found.len(), payload.len(), "{tenant} {id} at {changed:?}");
                assert!(differ <= 1, "{tenant} {id} at {changed:?}");
            }
            Read::Absent => assert!(changed.is_some()),
            Read::Unreadable => {
                let outcome = put(&map, &mut store, &key(tenant, id), 0, (b"new", 100));
                assert_eq!(outcome, Outcome::Unreadable);
                assert_eq!(store.value(SLOT), Some(bytes), "left alone");
            }
        }
    }
}

#[test]
fn a_slot_that_is_cut_anywhere_is_unreadable_and_left_alone() {
    let bytes = slot();
    for cut in 1..bytes.len() {
        let mut store = Store::default();
        store.put(SLOT, &bytes[..cut]);
        let found = read(&refusing(9, 9), &mut store, &key("a", 1), 0);
        assert_eq!(found, Read::Unreadable, "cut at {cut}");
        check(&bytes[..cut], None);
    }
    check(&[bytes.as_slice(), b"x"].concat(), None);
}

#[test]
fn a_slot_with_any_one_byte_changed_gives_nobody_anothers_record() {
    let bytes = slot();
    check(&bytes, None);
    for place in 0..bytes.len() {
        for value in 0..=u8::MAX {
            let mut broken = bytes.clone();
            broken[place] = value;
            check(&broken, Some(place));
        }
    }
}

#[test]
fn a_slot_of_another_version_is_left_alone() {
    let mut bytes = slot();
    for version in [0, 2, 255] {
        bytes[0] = version;
        let mut store = Store::default();
        store.put(SLOT, &bytes);
        let found = read(&refusing(9, 9), &mut store, &key("a", 1), 0);
        assert_eq!(found, Read::Unreadable);
        check(&bytes, None);
    }
}

proptest! {
    #[test]
    fn any_bytes_in_a_slot_are_read_without_a_panic(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..200),
        ours: bool,
    ) {
        if let (true, Some(first)) = (ours, bytes.first_mut()) {
            *first = 1;
        }
        let (map, mut store) = (refusing(9, 9), Store::default());
        store.put(SLOT, &bytes);
        let found = read(&map, &mut store, &key("a", 1), 0);
        prop_assert!(!matches!(found, Read::Found(_)));
        put(&map, &mut store, &key("a", 1), 0, (b"new", 100));
    }

    #[test]
    fn any_bytes_in_pages_and_chunks_are_read_without_a_panic(
        page in proptest::collection::vec(any::<u8>(), 1..200),
        chunk in proptest::collection::vec(any::<u8>(), 1..200),
        length in 0..200usize,
    ) {
        let bounds = PoolBounds { chunks: 1, tenant_chunks: 1 };
        let (pool, mut store) = (Pool::new(bounds, salt()), Store::default());
        let lease = pool.allocate(&mut store, &key("a", 1), 1, 0, 100).unwrap().unwrap();
        store.put("dragoman/1/chunk/0", &chunk);
        store.put("dragoman/1/chunk-page/0", &page);
        if length > 0 {
            prop_assert_eq!(pool.read(&mut store, &lease, length), Ok(None));
        }
        prop_assert_eq!(pool.write(&mut store, &lease, 0, b"new"), Ok(Write::Gone));
        prop_assert_eq!(pool.renew(&mut store, &lease, 200), Ok(false));
        prop_assert_eq!(pool.release(&mut store, &lease), Ok(()));
        prop_assert_eq!(pool.allocate(&mut store, &key("a", 2), 1, 0, 100), Ok(None));
        prop_assert_eq!(store.value("dragoman/1/chunk-page/0"), Some(page.as_slice()));
    }
}
