//! Chunks that change hands, at any moment.

use dragoman_slots::{CHUNK_BYTES, Lease, Write};

use crate::fake::{Raced, Store, key, sha};
use crate::pool::{pool, read, take, write};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

#[test]
fn a_reused_chunk_is_gone_for_its_former_owner_and_foreign_bytes_are_never_read() {
    let (pool, mut store) = (pool(1, 1), Store::default());
    let old = take(&pool, &mut store, &key("a", 1), 1).unwrap();
    write(&pool, &mut store, &old, b"old");
    assert_eq!(read(&pool, &mut store, &old, 3), Some(b"old".to_vec()));
    let new = pool.allocate(&mut store, &key("b", 2), 1, 100, 200);
    let new = new.unwrap().unwrap();
    assert_eq!(read(&pool, &mut store, &new, 3), None, "not yet written");
    write(&pool, &mut store, &new, b"new");
    assert_eq!(read(&pool, &mut store, &old, 3), None);
    assert_eq!(pool.write(&mut store, &old, 0, b"OLD"), Ok(Write::Gone));
    assert_eq!(pool.renew(&mut store, &old, 900), Ok(false));
    pool.release(&mut store, &old).unwrap();
    assert_eq!(read(&pool, &mut store, &new, 3), Some(b"new".to_vec()));
    assert_eq!(
        pool.allocate(&mut store, &key("a", 1), 1, 199, 300),
        Ok(None)
    );
}

#[test]
fn the_same_owner_does_not_read_what_it_wrote_under_an_older_lease() {
    let (pool, mut store) = (pool(1, 1), Store::default());
    let old = take(&pool, &mut store, &key("a", 1), 1).unwrap();
    write(&pool, &mut store, &old, b"old");
    let new = pool.allocate(&mut store, &key("a", 1), 1, 100, 200);
    let new = new.unwrap().unwrap();
    assert_eq!(read(&pool, &mut store, &new, 3), None);
    write(&pool, &mut store, &new, b"new");
    assert_eq!(pool.write(&mut store, &old, 0, b"OLD"), Ok(Write::Gone));
    assert_eq!(read(&pool, &mut store, &old, 3), None);
}

#[test]
fn a_slow_writer_does_not_write_over_an_owner_that_came_between() {
    let pool = pool(1, 1);
    let mut store = Store::default();
    let old = take(&pool, &mut store, &key("a", 1), 1).unwrap();
    let mut new = None;
    let mut raced = Raced {
        store,
        before_set: |store: &mut Store, _: &str| {
            if new.is_none() {
                let lease = pool.allocate(store, &key("b", 2), 1, 100, 200);
                let lease = lease.unwrap().unwrap();
                write(&pool, store, &lease, b"new");
                new = Some(lease);
            }
        },
    };
    assert_eq!(pool.write(&mut raced, &old, 0, b"old"), Ok(Write::Gone));
    let mut store = raced.store;
    let found = read(&pool, &mut store, &new.unwrap(), 3);
    assert_eq!(found, Some(b"new".to_vec()));
}

#[test]
fn two_that_allocate_at_the_same_time_get_different_chunks() {
    let pool = pool(4, 4);
    let mut inner = None;
    let mut raced = Raced {
        store: Store::default(),
        before_set: |store: &mut Store, _: &str| {
            inner.get_or_insert_with(|| take(&pool, store, &key("b", 2), 2).unwrap());
        },
    };
    let outer = pool.allocate(&mut raced, &key("a", 1), 2, 0, 100);
    let (outer, inner) = (outer.unwrap().unwrap(), inner.unwrap());
    let numbers = outer.chunks().iter().chain(inner.chunks());
    let mut numbers: Vec<u16> = numbers.map(|chunk| chunk.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 1, 2, 3]);
}

#[test]
fn a_renewed_lease_lives_on_and_a_released_one_leaves_no_bytes() {
    let (pool, mut store) = (pool(2, 2), Store::default());
    let lease = take(&pool, &mut store, &key("a", 1), 2).unwrap();
    write(&pool, &mut store, &lease, b"secret");
    assert_eq!(pool.renew(&mut store, &lease, 500), Ok(true));
    assert_eq!(
        pool.allocate(&mut store, &key("b", 2), 1, 499, 900),
        Ok(None)
    );
    pool.release(&mut store, &lease).unwrap();
    assert_eq!(store.value("dragoman/1/chunk/0"), Some(b"".as_slice()));
    assert_eq!(pool.renew(&mut store, &lease, 900), Ok(false));
    assert_eq!(read(&pool, &mut store, &lease, 6), None);
    assert!(
        pool.allocate(&mut store, &key("b", 2), 2, 0, 900)
            .unwrap()
            .is_some()
    );
}

#[test]
fn a_lease_from_elsewhere_makes_no_new_keys() {
    let (pool, mut store) = (pool(4, 4), Store::default());
    let entry = [&4_u16.to_le_bytes()[..], &1_u64.to_le_bytes()].concat();
    let lease = Lease::decode(sha(1), &entry).unwrap();
    let written = pool.write(&mut store, &lease, 0, b"x").unwrap();
    assert_eq!(written, Write::OutOfBounds);
    assert_eq!(pool.renew(&mut store, &lease, 100), Ok(false));
    assert_eq!(read(&pool, &mut store, &lease, 1), None);
    pool.release(&mut store, &lease).unwrap();
    assert_eq!(store.keys().len(), 0);
    let lease = take(&pool, &mut store, &key("a", 1), 1).unwrap();
    for (index, length) in [(1, 1), (0, CHUNK_BYTES + 1), (usize::MAX, 1)] {
        let written = pool.write(&mut store, &lease, index, &vec![0; length]);
        assert_eq!(written, Ok(Write::OutOfBounds));
    }
}

#[test]
fn chunks_of_an_owner_are_nothing_to_another_that_names_them() {
    let (pool, mut store) = (pool(1, 1), Store::default());
    let own = take(&pool, &mut store, &key("a", 1), 1).unwrap();
    write(&pool, &mut store, &own, b"secret");
    let other = Lease::decode(sha(2), &own.encode()).unwrap();
    assert_eq!(read(&pool, &mut store, &other, 6), None);
    assert_eq!(pool.write(&mut store, &other, 0, b"x"), Ok(Write::Gone));
    assert_eq!(pool.renew(&mut store, &other, 1), Ok(false));
    pool.release(&mut store, &other).unwrap();
    assert_eq!(read(&pool, &mut store, &own, 6), Some(b"secret".to_vec()));
    assert_eq!(take(&pool, &mut store, &key("b", 3), 1), None);
}

#[test]
fn two_leases_of_one_owner_are_renewed_and_released_apart() {
    let (pool, mut store) = (pool(2, 2), Store::default());
    let first = take(&pool, &mut store, &key("a", 1), 1).unwrap();
    let second = take(&pool, &mut store, &key("a", 1), 1).unwrap();
    assert_eq!(pool.renew(&mut store, &first, 200), Ok(true));
    let freed = pool.allocate(&mut store, &key("b", 2), 1, 100, 300);
    assert_eq!(
        freed.unwrap().unwrap().chunks()[0].number,
        second.chunks()[0].number
    );
    pool.release(&mut store, &second).unwrap();
    assert_eq!(
        pool.allocate(&mut store, &key("b", 3), 1, 100, 300),
        Ok(None)
    );
}

#[test]
fn a_lease_that_lost_one_of_its_chunks_is_not_renewed() {
    let (pool, mut store) = (pool(2, 2), Store::default());
    let lease = take(&pool, &mut store, &key("a", 1), 2).unwrap();
    assert_eq!(pool.renew(&mut store, &lease, 100), Ok(true));
    let taken = pool.allocate(&mut store, &key("b", 2), 1, 100, 300);
    assert!(taken.unwrap().is_some());
    assert_eq!(pool.renew(&mut store, &lease, 200), Ok(false));
}

#[test]
fn pages_and_chunks_of_another_layout_are_left_alone() {
    let (pool, mut store) = (pool(2, 2), Store::default());
    let lease = take(&pool, &mut store, &key("a", 1), 1).unwrap();
    write(&pool, &mut store, &lease, b"body");
    let chunk_key = format!("dragoman/1/chunk/{}", lease.chunks()[0].number);
    for key_of in ["dragoman/1/chunk-page/0", &chunk_key] {
        let good = store.value(key_of).unwrap().to_vec();
        let other_version = [&[2], &good[1..]].concat();
        let longer = [&good[..], b"x"].concat();
        for bytes in [other_version, longer, good[..good.len() - 1].to_vec()] {
            store.put(key_of, &bytes);
            if key_of == chunk_key {
                for length in 3..=5 {
                    assert_eq!(read(&pool, &mut store, &lease, length), None);
                }
                assert_eq!(pool.write(&mut store, &lease, 0, b"new"), Ok(Write::Gone));
            } else {
                assert_eq!(pool.renew(&mut store, &lease, 200), Ok(false));
                assert_eq!(take(&pool, &mut store, &key("a", 2), 1), None);
            }
            assert_eq!(store.value(key_of), Some(bytes.as_slice()));
        }
        store.put(key_of, &good);
    }
    assert_eq!(read(&pool, &mut store, &lease, 4), Some(b"body".to_vec()));
}
