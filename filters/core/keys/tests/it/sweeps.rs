//! What becomes of the table before.

use std::collections::BTreeMap;

use dragoman_keys::{Begin, Found, Other, Progress, Sweep, begin};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::fake::*;

#[test]
fn each_key_of_the_former_table_is_told_once_with_what_became_of_it() {
    for (before, after) in [(40, 30), (3_000, 5), (5, 3_000), (200, 200)] {
        let mut store = Store::default();
        replace(&mut store, &(0..before).collect::<Vec<_>>(), 1);
        let keys: Vec<u32> = (before / 2..before / 2 + after).collect();
        replace(&mut store, &keys, 2);

        let told = sweep(&mut store);

        let became = |key: u32| (key, (1, keys.contains(&key).then_some(2)));
        assert_eq!(told, (0..before).map(became).collect());
        assert_eq!(store.state().other, Other::Clean);
    }
}

#[test]
fn only_one_table_stays_in_memory() {
    let mut store = Store::default();
    let keys: Vec<u32> = (0..5_000).collect();
    replace(&mut store, &keys, 1);
    let one = store.bucket_bytes();
    for version in 2..6 {
        replace(&mut store, &keys, version);
        assert!(store.bucket_bytes() > one, "the former one is still there");
        sweep(&mut store);
        assert_eq!(store.bucket_bytes(), one);
    }
    replace(&mut store, &[1], 6);
    sweep(&mut store);
    assert!(store.bucket_bytes() < 100);
}

#[test]
fn no_table_is_begun_where_something_is_left() {
    let mut store = Store::default();
    replace(&mut store, &[1], 1);
    replace(&mut store, &[1], 2);
    assert!(matches!(
        begin(&mut store, None, SALT).unwrap(),
        Begin::Occupied
    ));
    sweep(&mut store);
    let build = begun(&mut store, 1);
    assert!(matches!(
        begin(&mut store, None, SALT).unwrap(),
        Begin::Occupied
    ));
    assert_eq!(store.state().other, Other::Building(*build.table()));
}

#[test]
fn a_sweep_that_was_lost_is_done_again_and_tells_nothing_twice() {
    let mut store = Store::default();
    let keys: Vec<u32> = (0..500).collect();
    replace(&mut store, &keys, 1);
    replace(&mut store, &[], 2);
    let mut told = BTreeMap::new();
    let mut lost = Sweep::of(&store.state()).unwrap();
    assert_eq!(
        lost.step(&mut store, 100, |key| tell(&mut told, key))
            .unwrap(),
        Progress::More
    );
    assert!((1..500).contains(&told.len()), "{}", told.len());

    let mut again = Sweep::of(&store.state()).unwrap();
    while again
        .step(&mut store, 100, |key| tell(&mut told, key))
        .unwrap()
        == Progress::More
    {}
    assert_eq!(
        lost.step(&mut store, 10_000, |key| tell(&mut told, key))
            .unwrap(),
        Progress::Done
    );
    assert_eq!(told.len(), 500);
    assert_eq!(store.bucket_bytes(), 0);
}

#[test]
fn a_sweep_that_woke_up_late_leaves_a_later_table_alone() {
    let mut store = Store::default();
    let keys: Vec<u32> = (0..500).collect();
    replace(&mut store, &keys, 1);
    replace(&mut store, &keys, 2);
    let mut late = Sweep::of(&store.state()).unwrap();
    sweep(&mut store);
    replace(&mut store, &keys, 3);

    assert_eq!(
        late.step(&mut store, 100_000, |_| panic!("told twice"))
            .unwrap(),
        Progress::Done
    );

    assert!(
        keys.iter()
            .all(|key| look(&mut store, *key) == found(*key, 3))
    );
    assert!(
        matches!(store.state().other, Other::Former(_)),
        "of version 2"
    );
    assert_eq!(look(&mut store, 500), Found::Absent);
}
