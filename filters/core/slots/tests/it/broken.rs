//! Bytes that no version of this code has written.

use dragoman_slots::{Outcome, Pool, PoolBounds, Read, Write};
use proptest::prelude::*;

use crate::fake::*;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const RECORDS: [(&str, u32, &[u8]); 3] = [("a", 1, b"first"), ("b", 2, b"second!"), ("a", 3, b"")];

/// A slot of [`RECORDS`].
fn slot() -> Vec<u8> {
    let (map, mut store) = (refusing(9, 9), Store::default());
    for (tenant, id, payload) in RECORDS {
        put(&map, &mut store, &key(tenant, id), 0, (payload, 100));
    }
    store.value(SLOT).unwrap().to_vec()
}

/// Whoever reads these bytes learns nothing, and nobody writes over them.
fn check_unreadable(bytes: &[u8]) {
    let map = refusing(9, 9);
    for (tenant, id, _) in RECORDS {
        let mut store = Store::default();
        store.put(SLOT, bytes);
        let found = read(&map, &mut store, &key(tenant, id), 0);
        assert_eq!(found, Read::Unreadable, "{bytes:?}");
        let outcome = put(&map, &mut store, &key(tenant, id), 0, (b"new", 100));
        assert_eq!(outcome, Outcome::Unreadable);
        assert_eq!(store.value(SLOT), Some(bytes), "left alone");
    }
}

/// Whoever reads these bytes, in which one was changed within a record, sees their own record, as
/// it was or changed in place, or none.
fn check_own_or_none(bytes: &[u8]) {
    let map = refusing(9, 9);
    for (tenant, id, payload) in RECORDS {
        let mut store = Store::default();
        store.put(SLOT, bytes);
        match read(&map, &mut store, &key(tenant, id), 0) {
            Read::Found(found) => {
                let differ = found.iter().zip(payload).filter(|(a, b)| a != b).count();
                assert_eq!(found.len(), payload.len(), "{bytes:?}");
                assert!(differ <= 1, "{bytes:?}");
            }
            Read::Absent => {}
            Read::Unreadable => panic!("{bytes:?}"),
        }
    }
}

/// Where the bytes stand that say where records begin and end: the version, the number of
/// records, and in each record three bytes of lengths and the check of these.
fn borders() -> Vec<usize> {
    let mut borders = vec![0, 1, 2];
    let mut start = 3;
    for (tenant, _, payload) in RECORDS {
        borders.extend(start + 8..start + 12);
        start += 44 + tenant.len() + payload.len();
    }
    borders
}

#[test]
fn a_slot_that_is_cut_anywhere_or_has_a_tail_is_unreadable_and_left_alone() {
    let bytes = slot();
    for cut in 1..bytes.len() {
        check_unreadable(&bytes[..cut]);
    }
    check_unreadable(&[bytes.as_slice(), b"x"].concat());
}

#[test]
fn a_slot_with_any_one_byte_changed_gives_nobody_anothers_record() {
    let bytes = slot();
    for (place, right) in bytes.iter().enumerate() {
        let mut broken = bytes.clone();
        if borders().contains(&place) {
            for wrong in (0..=u8::MAX).filter(|wrong| wrong != right) {
                broken[place] = wrong;
                check_unreadable(&broken);
            }
        } else {
            for bit in 0..8 {
                broken[place] = right ^ (1 << bit);
                check_own_or_none(&broken);
            }
        }
    }
}

#[test]
fn a_wrong_length_is_noticed_even_where_the_bytes_behind_it_look_like_a_record() {
    let map = refusing(90, 90);
    let slot = |payloads: &[&[u8]]| {
        let mut store = Store::default();
        for (payload, id) in payloads.iter().zip(1..) {
            put(&map, &mut store, &key("a", id), 0, (payload, 100));
        }
        store.value(SLOT).unwrap().to_vec()
    };
    // With 256 bytes more, the first payload ends where the second one begins to look like one.
    let looks_like_one = slot(&[b"third"])[3..].to_vec();
    let second = [&[0; 256 - 45][..], &looks_like_one].concat();
    let mut bytes = slot(&[b"first", &second]);
    assert_eq!(bytes[11..13], [5, 0], "length of the first payload");
    bytes[12] = 1;
    let mut store = Store::default();
    store.put(SLOT, &bytes);
    let found = read(&map, &mut store, &key("a", 1), 0);
    assert_eq!(found, Read::Unreadable);
}

#[test]
fn a_slot_of_another_version_is_left_alone() {
    let mut bytes = slot();
    for version in [0, 2, 255] {
        bytes[0] = version;
        check_unreadable(&bytes);
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
