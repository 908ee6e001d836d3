//! What a reader sees, and what it costs.

use dragoman_keys::{FRESH_MS, Found, Looker, Written, abandon, confirm};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::fake::*;

#[test]
fn before_the_first_table_nobody_knows_and_then_everybody_does_at_once() {
    let mut store = Store::default();
    let mut looker = Looker::default();
    let mut find = |store: &mut Store, key| looker.find(store, &sha(key), 0).unwrap();
    assert_eq!(find(&mut store, 1), Found::NotReady);

    let mut build = begun(&mut store, 1);
    assert_eq!(add(&mut build, &mut store, 1, 1), Written::Done);
    assert_eq!(find(&mut store, 1), Found::NotReady, "not in force yet");

    assert!(build.commit(&mut store, "1", 0).unwrap());
    assert_eq!(find(&mut store, 1), found(1, 1));
    assert_eq!(find(&mut store, 2), Found::Absent);
}

#[test]
fn an_empty_table_is_a_table() {
    let mut store = Store::default();
    replace(&mut store, &[], 1);
    assert_eq!(look(&mut store, 1), Found::Absent);
}

#[test]
fn a_new_key_is_found_at_once_and_a_lost_one_for_a_moment_at_most() {
    let mut store = Store::default();
    replace(&mut store, &[1, 2], 1);
    let mut looker = Looker::default();
    let mut find = |store: &mut Store, key, now| looker.find(store, &sha(key), now).unwrap();
    assert_eq!(find(&mut store, 1, 0), found(1, 1));

    replace(&mut store, &[2, 3], 2);
    let last = FRESH_MS - 1;
    assert_eq!(
        find(&mut store, 1, last),
        found(1, 1),
        "still of the table before"
    );
    assert_eq!(find(&mut store, 3, last), found(3, 2));
    assert_eq!(
        find(&mut store, 1, last),
        Found::Absent,
        "it knows of the table by now"
    );
}

#[test]
fn a_lost_key_is_not_accepted_when_that_moment_is_over_or_its_bucket_is_swept() {
    for swept in [false, true] {
        let mut store = Store::default();
        replace(&mut store, &[1], 1);
        let mut looker = Looker::default();
        assert_eq!(looker.find(&mut store, &sha(1), 0).unwrap(), found(1, 1));
        replace(&mut store, &[2], 2);
        if swept {
            sweep(&mut store);
        }
        let now = if swept { 1 } else { FRESH_MS };
        assert_eq!(
            looker.find(&mut store, &sha(1), now).unwrap(),
            Found::Absent
        );
    }
}

#[test]
fn a_look_up_reads_one_bucket_whatever_the_number_of_keys() {
    for keys in [1, 100, 20_000] {
        let mut store = Store::default();
        replace(&mut store, &(0..keys).collect::<Vec<_>>(), 1);
        let mut looker = Looker::default();
        looker.find(&mut store, &sha(0), 0).unwrap();

        store.gets = 0;
        for key in 0..keys.min(100) {
            assert_eq!(
                looker.find(&mut store, &sha(key), 1).unwrap(),
                found(key, 1)
            );
        }
        assert_eq!(store.gets, usize::try_from(keys.min(100)).unwrap());

        store.gets = 0;
        assert_eq!(
            looker.find(&mut store, &sha(keys), 1).unwrap(),
            Found::Absent
        );
        assert_eq!(store.gets, 2, "its bucket and the state");
    }
}

#[test]
fn a_table_that_is_given_up_changes_nothing() {
    let mut store = Store::default();
    replace(&mut store, &[1, 2], 1);
    let mut build = begun(&mut store, 2);
    add(&mut build, &mut store, 1, 2);
    let table = *build.table();
    assert!(abandon(&mut store, &table).unwrap());

    assert!(!build.commit(&mut store, "2", 0).unwrap());
    assert_eq!(look(&mut store, 1), found(1, 1));
    assert!(sweep(&mut store).is_empty(), "its keys never were in force");
    replace(&mut store, &[1], 3);
    assert_eq!(look(&mut store, 1), found(1, 3));
}

#[test]
fn a_table_is_confirmed_while_it_is_in_force() {
    let mut store = Store::default();
    replace(&mut store, &[1], 1);
    let id = store.state().current.unwrap().table.id;
    assert!(confirm(&mut store, id, 7_000).unwrap());
    assert!(
        confirm(&mut store, id, 6_000).unwrap(),
        "a late one takes nothing back"
    );
    assert_eq!(store.state().current.unwrap().confirmed_ms, 7_000);

    replace(&mut store, &[1], 2);
    assert!(!confirm(&mut store, id, 9_000).unwrap());
    assert_eq!(store.state().current.unwrap().confirmed_ms, 0);
}
