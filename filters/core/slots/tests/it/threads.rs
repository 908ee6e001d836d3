//! Real threads.

use std::convert::Infallible;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use dragoman_slots::{CHUNK_BYTES, Outcome, Pool, PoolBounds, SharedData};

use crate::fake::*;

/// Every host call takes the lock for itself, as in Envoy.
pub struct Locked<'a>(pub &'a Mutex<Store>);

impl SharedData for Locked<'_> {
    type Error = Infallible;

    fn get(&mut self, key: &str) -> Result<Option<(Vec<u8>, u32)>, Infallible> {
        self.0.lock().unwrap().get(key)
    }

    fn set(&mut self, key: &str, value: &[u8], cas: u32) -> Result<bool, Infallible> {
        self.0.lock().unwrap().set(key, value, cas)
    }
}

#[test]
fn threads_that_count_in_the_same_slot_lose_nothing() {
    const EACH: u32 = 20_000;
    let (map, store) = (refusing(20, 20), Mutex::new(Store::default()));
    let done: Vec<AtomicU64> = (0..4).map(|_| AtomicU64::new(0)).collect();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for turn in 0..EACH {
                    let id = turn % 4;
                    match add_one(&map, &mut Locked(&store), &key("a", id)) {
                        Outcome::Done(_) => {
                            done[id as usize].fetch_add(1, Ordering::Relaxed);
                        }
                        Outcome::Contended => {}
                        other => panic!("{other:?}"),
                    }
                }
            });
        }
    });
    let mut store = store.into_inner().unwrap();
    for (id, done) in (0..4).zip(done) {
        let done = done.into_inner();
        assert!(done > 0);
        let expected = found(&done.to_le_bytes());
        assert_eq!(read(&map, &mut store, &key("a", id), 0), expected);
    }
}

#[test]
fn threads_that_share_a_pool_read_their_own_bytes_or_none() {
    let bounds = PoolBounds {
        chunks: 3,
        tenant_chunks: 3,
    };
    let (pool, store) = (Pool::new(bounds, salt()), Mutex::new(Store::default()));
    let whole = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in [1, 2] {
            let (pool, store, whole) = (&pool, &store, &whole);
            scope.spawn(move || {
                for turn in 0..1_000 {
                    let owner = key("a", thread * 10_000 + turn);
                    let body = owner.sha256().repeat(CHUNK_BYTES / 32 + 1);
                    let shared = &mut Locked(store);
                    // Expired from the start: the other thread may take the chunks at any time.
                    let lease = pool.allocate(shared, &owner, 2, 1, 1).unwrap().unwrap();
                    for (index, bytes) in body.chunks(CHUNK_BYTES).enumerate() {
                        pool.write(shared, &lease, index, bytes).unwrap();
                    }
                    if let Some(read) = pool.read(shared, &lease, body.len()).unwrap() {
                        assert!(read == body, "foreign bytes");
                        whole.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert!(whole.into_inner() > 0);
}
