//! Bodies in chunks, and who may have how many.

use dragoman_slots::{
    CHUNK_BYTES, Key, Lease, MAX_BODY_CHUNKS, PAGE_CHUNKS, Pool, PoolBounds, Write,
};

use crate::fake::*;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

pub fn pool(chunks: u16, tenant_chunks: u16) -> Pool {
    let bounds = PoolBounds {
        chunks,
        tenant_chunks,
    };
    Pool::new(bounds, salt())
}

/// A lease from 0 until 100 ms.
pub fn take(pool: &Pool, store: &mut Store, owner: &Key<'_>, count: usize) -> Option<Lease> {
    pool.allocate(store, owner, count, 0, 100).unwrap()
}

pub fn body(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 31 + seed) as u8).collect()
}

pub fn write(pool: &Pool, store: &mut Store, lease: &Lease, body: &[u8]) {
    for (index, bytes) in body.chunks(CHUNK_BYTES).enumerate() {
        let written = pool.write(store, lease, index, bytes).unwrap();
        assert_eq!(written, Write::Written);
    }
}

pub fn read(pool: &Pool, store: &mut Store, lease: &Lease, length: usize) -> Option<Vec<u8>> {
    pool.read(store, lease, length).unwrap()
}

#[test]
fn a_body_reads_as_it_was_written_whatever_its_length() {
    let (pool, mut store) = (pool(8, 8), Store::default());
    for length in [
        0,
        1,
        CHUNK_BYTES - 1,
        CHUNK_BYTES,
        CHUNK_BYTES + 1,
        3 * CHUNK_BYTES,
    ] {
        let lease = take(&pool, &mut store, &key("a", 1), 3).unwrap();
        let body = body(length, 5);
        write(&pool, &mut store, &lease, &body);
        let found = read(&pool, &mut store, &lease, length);
        assert!(found.as_ref() == Some(&body), "{length}");
        pool.release(&mut store, &lease).unwrap();
    }
}

#[test]
fn a_lease_reads_as_it_was_encoded() {
    let (pool, mut store) = (pool(8, 8), Store::default());
    let lease = take(&pool, &mut store, &key("a", 1), 3).unwrap();
    let bytes = lease.encode();
    assert_eq!(bytes.len(), 30);
    assert_eq!(Lease::decode(sha(1), &bytes), Some(lease));
    assert_eq!(Lease::decode(sha(1), &bytes[..29]), None);
    let longest = vec![1; 10 * MAX_BODY_CHUNKS];
    assert!(Lease::decode(sha(1), &longest).is_some());
    assert_eq!(
        Lease::decode(sha(1), &[longest, vec![1; 10]].concat()),
        None
    );
}

#[test]
fn a_body_of_another_length_is_gone() {
    let (pool, mut store) = (pool(8, 8), Store::default());
    let lease = take(&pool, &mut store, &key("a", 1), 2).unwrap();
    let length = CHUNK_BYTES + 10;
    write(&pool, &mut store, &lease, &body(length, 1));
    for other in [
        1,
        length - 1,
        length + 1,
        2 * CHUNK_BYTES,
        9 * CHUNK_BYTES,
        usize::MAX,
    ] {
        assert_eq!(read(&pool, &mut store, &lease, other), None, "{other}");
    }
}

#[test]
fn chunks_that_were_swapped_or_never_written_are_gone() {
    let (pool, mut store) = (pool(8, 8), Store::default());
    let lease = take(&pool, &mut store, &key("a", 1), 2).unwrap();
    let body = body(2 * CHUNK_BYTES, 1);
    assert_eq!(read(&pool, &mut store, &lease, body.len()), None);
    write(&pool, &mut store, &lease, &body);
    let mut bytes = lease.encode();
    bytes.rotate_left(10);
    let swapped = Lease::decode(sha(1), &bytes).unwrap();
    assert_eq!(read(&pool, &mut store, &swapped, body.len()), None);
}

#[test]
fn a_chunk_is_owned_by_one_until_it_expires_or_is_released() {
    let (pool, mut store) = (pool(3, 3), Store::default());
    let first = take(&pool, &mut store, &key("a", 1), 2).unwrap();
    assert_eq!(take(&pool, &mut store, &key("b", 2), 2), None);
    let second = take(&pool, &mut store, &key("b", 2), 1).unwrap();
    assert!(
        !first
            .chunks()
            .iter()
            .any(|one| one.number == second.chunks()[0].number)
    );
    pool.release(&mut store, &first).unwrap();
    assert!(take(&pool, &mut store, &key("b", 3), 2).is_some());
    assert_eq!(
        pool.allocate(&mut store, &key("b", 4), 3, 99, 200),
        Ok(None)
    );
    let all = pool
        .allocate(&mut store, &key("b", 4), 3, 100, 200)
        .unwrap();
    assert_eq!(all.unwrap().chunks().len(), 3, "lost owners expire");
}

#[test]
fn an_allocation_that_fails_leaves_nothing_taken() {
    let (pool, mut store) = (pool(PAGE_CHUNKS + 2, PAGE_CHUNKS), Store::default());
    let most = take(&pool, &mut store, &key("a", 1), MAX_BODY_CHUNKS);
    assert!(most.is_some());
    assert_eq!(take(&pool, &mut store, &key("b", 2), 3), None);
    assert!(take(&pool, &mut store, &key("b", 2), 2).is_some());
}

#[test]
fn a_body_has_at_most_so_many_chunks() {
    let (pool, mut store) = (pool(500, PAGE_CHUNKS), Store::default());
    assert_eq!(
        take(&pool, &mut store, &key("a", 1), MAX_BODY_CHUNKS + 1),
        None
    );
    assert_eq!(store.keys().len(), 0);
    let mut lease = take(&pool, &mut store, &key("a", 1), MAX_BODY_CHUNKS).unwrap();
    let more = take(&pool, &mut store, &key("a", 1), 1).unwrap();
    assert!(!lease.join(&more));
    assert_eq!(lease.chunks().len(), MAX_BODY_CHUNKS);
}

#[test]
fn a_body_may_grow_by_chunks_of_the_same_owner_only() {
    let (pool, mut store) = (pool(8, 8), Store::default());
    let mut lease = take(&pool, &mut store, &key("a", 1), 1).unwrap();
    let more = take(&pool, &mut store, &key("a", 1), 1).unwrap();
    let others = take(&pool, &mut store, &key("a", 2), 1).unwrap();
    assert!(lease.join(&more));
    assert!(!lease.join(&others));
    let body = body(CHUNK_BYTES + 1, 3);
    write(&pool, &mut store, &lease, &body);
    assert!(read(&pool, &mut store, &lease, body.len()) == Some(body));
}

#[test]
fn a_tenant_has_no_more_than_its_share_of_each_page() {
    let (pool, mut store) = (pool(2 * PAGE_CHUNKS, 10), Store::default());
    for id in 0..20 {
        assert!(take(&pool, &mut store, &key("a", id), 1).is_some(), "{id}");
    }
    assert_eq!(take(&pool, &mut store, &key("a", 20), 1), None);
    assert!(take(&pool, &mut store, &key("b", 20), 20).is_some());
    let later = pool
        .allocate(&mut store, &key("a", 20), 20, 100, 200)
        .unwrap();
    assert!(later.is_some(), "expired ones do not count");
}
