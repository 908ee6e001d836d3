//! However many keys there are, shared data stays within what was said at the start.

use std::collections::HashMap;

use dragoman_slots::{
    CHUNK_BYTES, Outcome, PAGE_CHUNKS, Pool, PoolBounds, Purpose, SharedData, WhenFull, bound_bytes,
};

use crate::fake::*;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const BUCKETS: Purpose = Purpose {
    name: "buckets",
    slots: 1_000,
    slot_bytes: 512,
    tenant_bytes: 256,
    when_full: WhenFull::Evict(|payload, _| payload == [0; 16]),
};

const CLAIMS: Purpose = Purpose {
    name: "claims",
    slots: 500,
    slot_bytes: 1_024,
    tenant_bytes: 1_024,
    when_full: WhenFull::Refuse,
};

#[test]
fn shared_data_stays_within_its_bound_after_200_000_distinct_keys() {
    let (buckets, claims) = (map(BUCKETS), map(CLAIMS));
    let mut store = Store::default();
    let bound = bound_bytes(&[BUCKETS, CLAIMS]);
    assert_eq!(bound, 1_000 * (512 + 22) + 500 * (1_024 + 21));
    let tenants: Vec<String> = (0..50).map(|id| format!("team-{id}")).collect();
    let mut outcomes: HashMap<_, usize> = HashMap::new();
    for id in 0..200_000 {
        let key = key(&tenants[id as usize % 50], id);
        let now = u64::from(id / 100);
        let used = [u8::from(id % 3 == 0); 16];
        // A quarter of the claims is enough to fill their slots.
        let maps = [&buckets, &claims];
        for map in &maps[..1 + usize::from(id % 4 == 0)] {
            let outcome = put(map, &mut store, &key, now, (&used, now + 10_000));
            let name = match outcome {
                Outcome::Done(_) => "done",
                Outcome::Full => "full",
                Outcome::ShareSpent => "share",
                other => panic!("{other:?}"),
            };
            *outcomes.entry(name).or_default() += 1;
        }
    }
    assert!(store.bytes() <= bound, "{} of {bound}", store.bytes());
    assert!(store.bytes() > bound / 2, "the test fills it");
    assert_eq!(store.keys().len(), 1_500, "every slot is used");
    assert!(
        outcomes["done"] > 10_000 && outcomes["full"] > 10_000,
        "{outcomes:?}"
    );
}

#[test]
fn keys_spread_evenly_over_the_slots() {
    let (map, mut store) = (map(CLAIMS), Store::default());
    for id in 0..5_000 {
        put(&map, &mut store, &key("a", id), 0, (b"x", 100));
    }
    let sizes = store.keys().into_iter().map(|key| {
        let value = store.value(&key).unwrap();
        (value.len() - 3) / 46
    });
    let sizes: Vec<usize> = sizes.collect();
    assert_eq!(sizes.len(), 500);
    // Ten a slot on average; 22 is what the tenant's share holds.
    let most = sizes.iter().filter(|size| (4..=18).contains(*size)).count();
    assert!(most > 480, "{sizes:?}");
}

#[test]
fn a_purpose_of_no_slots_has_one() {
    let purpose = Purpose { slots: 0, ..CLAIMS };
    let (map, mut store) = (map(purpose), Store::default());
    put(&map, &mut store, &key("a", 1), 0, (b"x", 100));
    assert_eq!(store.keys(), ["dragoman/1/claims/0"]);
    assert!(store.bytes() <= purpose.bound_bytes());
}

#[test]
fn the_slot_of_a_key_depends_on_the_salt() {
    let places = |salt| {
        let map = dragoman_slots::SlotMap::new(CLAIMS, salt);
        let place = |id| {
            let mut store = Store::default();
            put(&map, &mut store, &key("a", id), 0, (b"x", 100));
            store.keys().remove(0)
        };
        (0..50).map(place).collect::<Vec<_>>()
    };
    let other = dragoman_slots::Salt::agree(&mut Store::default(), [8; 16]);
    let (one, other) = (places(salt()), places(other.unwrap().unwrap()));
    let same = one.iter().zip(&other).filter(|(a, b)| a == b).count();
    assert!(same < 5, "{same} of 50");
}

#[test]
fn a_pool_in_full_use_is_within_its_bound() {
    let bounds = PoolBounds {
        chunks: 2 * PAGE_CHUNKS + 5,
        tenant_chunks: PAGE_CHUNKS,
    };
    let (pool, mut store) = (Pool::new(bounds, salt()), Store::default());
    for id in 0..140 {
        let lease = pool.allocate(&mut store, &key("a", id), 1, 0, 100);
        let Some(lease) = lease.unwrap() else {
            assert_eq!(id, 133);
            break;
        };
        let _ = pool.write(&mut store, &lease, 0, &vec![1; CHUNK_BYTES]);
    }
    assert_eq!(store.keys().len(), 133 + 3);
    let (used, bound) = (store.bytes(), bounds.bound_bytes());
    assert!(used <= bound && used > bound - 1_000, "{used} of {bound}");
    assert!(store.get("dragoman/1/chunk/132").unwrap().is_some());
}
