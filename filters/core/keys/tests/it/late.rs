//! A writer that stalls and wakes up when others have gone on.

use dragoman_keys::{Build, Found, Written, abandon};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::fake::*;

/// Version 1 of ten keys in force, and a writer that stalled after half of version 2. Another one
/// took over and is at version 3.
fn stalled(store: &mut Store) -> Build {
    let keys: Vec<u32> = (0..10).collect();
    replace(store, &keys, 1);
    let mut late = begun(store, 10);
    for key in 0..5 {
        add(&mut late, store, key, 2);
    }
    let table = *late.table();
    assert!(abandon(store, &table).unwrap());
    sweep(store);
    late
}

#[test]
fn a_late_writer_never_comes_into_force() {
    let mut store = Store::default();
    let mut late = stalled(&mut store);
    for key in 5..10 {
        add(&mut late, &mut store, key, 2);
    }
    assert!(!late.commit(&mut store, "2", 0).unwrap());
    assert!((0..10).all(|key| look(&mut store, key) == found(key, 1)));
}

#[test]
fn a_late_writer_overwrites_nothing_of_a_table_that_is_being_written() {
    let mut store = Store::default();
    let mut late = stalled(&mut store);
    let mut build = begun(&mut store, 10);
    for key in 0..10 {
        assert_eq!(add(&mut build, &mut store, key, 3), Written::Done);
        assert_eq!(add(&mut late, &mut store, key, 2), Written::Overtaken);
    }
    assert!(build.commit(&mut store, "3", 0).unwrap());
    assert!((0..10).all(|key| look(&mut store, key) == found(key, 3)));
}

#[test]
fn what_a_late_writer_leaves_in_a_table_is_not_in_it() {
    let mut store = Store::default();
    let mut late = stalled(&mut store);
    replace(&mut store, &[], 3);
    for key in 0..10 {
        add(&mut late, &mut store, key, 2);
    }
    assert!((0..10).all(|key| look(&mut store, key) == Found::Absent));
    sweep(&mut store);
    replace(&mut store, &[4], 4);
    assert!(sweep(&mut store).is_empty(), "version 3 had no key");
    assert_eq!(look(&mut store, 4), found(4, 4));
}
