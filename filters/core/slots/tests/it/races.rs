//! Another writer between get and set.

use std::cell::Cell;

use dragoman_slots::{ABSENT, MAX_TRIES, Outcome, Read, Salt, SharedData, Swap, swap};

use crate::fake::*;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

#[test]
fn a_change_that_another_overtook_starts_again_from_what_the_other_left() {
    let map = refusing(4, 4);
    let mut raced = Raced {
        store: Store::default(),
        before_set: {
            let mut first = true;
            move |store: &mut Store, _: &str| {
                if std::mem::take(&mut first) {
                    put(&map, store, &key("a", 1), 0, (b"faster", 100));
                    put(&map, store, &key("a", 2), 0, (b"beside", 100));
                }
            }
        },
    };
    let outcome = put(&map, &mut raced, &key("a", 1), 0, (b"slower", 100));
    assert_eq!(outcome, Outcome::Done(Some(b"faster".to_vec())));
    let mut store = raced.store;
    assert_eq!(read(&map, &mut store, &key("a", 1), 0), found(b"slower"));
    assert_eq!(read(&map, &mut store, &key("a", 2), 0), found(b"beside"));
}

#[test]
fn of_two_that_create_a_record_the_second_sees_the_first() {
    let map = refusing(4, 4);
    let inner = Cell::new(None);
    let mut raced = Raced {
        store: Store::default(),
        before_set: |store: &mut Store, _: &str| {
            if inner.get().is_none() {
                inner.set(Some(add_one(&map, store, &key("a", 1))));
            }
        },
    };
    let outer = add_one(&map, &mut raced, &key("a", 1));
    assert_eq!(inner.get(), Some(Outcome::Done(0)));
    assert_eq!(outer, Outcome::Done(1));
}

#[test]
fn a_change_that_is_always_overtaken_ends_after_the_bound_and_changes_nothing() {
    let map = refusing(4, 4);
    let mut touches = 0;
    let mut raced = Raced {
        store: Store::default(),
        before_set: |store: &mut Store, key: &str| {
            touches += 1;
            let value = store.value(key).unwrap_or_default().to_vec();
            store.put(key, &value);
        },
    };
    let outcome = put(&map, &mut raced, &key("a", 1), 0, (b"record", 100));
    assert_eq!(outcome, Outcome::Contended);
    let mut store = raced.store;
    assert_eq!(read(&map, &mut store, &key("a", 1), 0), Read::Absent);
    assert_eq!(touches, MAX_TRIES);
}

#[test]
fn a_change_that_is_overtaken_at_all_but_the_last_attempt_is_made() {
    let mut touches = 0;
    let mut raced = Raced {
        store: Store::default(),
        before_set: |store: &mut Store, key: &str| {
            touches += 1;
            if touches < MAX_TRIES {
                store.put(key, b"touched");
            }
        },
    };
    let step = |_: &[u8]| Swap::Write(b"mine".to_vec(), 5);
    assert_eq!(swap(&mut raced, "k", step), Ok(Some(5)));
    assert_eq!(raced.store.value("k"), Some(b"mine".as_slice()));
}

#[test]
fn of_two_that_agree_on_a_salt_the_slower_takes_the_faster_ones() {
    let mut raced = Raced {
        store: Store::default(),
        before_set: |store: &mut Store, _: &str| {
            Salt::agree(store, [1; 16]).unwrap();
        },
    };
    let slower = Salt::agree(&mut raced, [2; 16]).unwrap();
    let faster = Salt::agree(&mut raced.store, [3; 16]).unwrap();
    assert!(slower.is_some());
    assert_eq!(slower, faster);
}

#[test]
fn the_fake_refuses_to_create_what_is_there() {
    let mut store = Store::default();
    assert_eq!(store.set("k", b"1", ABSENT), Ok(true));
    assert_eq!(store.set("k", b"2", ABSENT), Ok(false));
    assert_eq!(store.set("k", b"", 1), Ok(true));
    assert_eq!(
        store.set("k", b"3", ABSENT),
        Ok(false),
        "empty is not absent"
    );
    assert_eq!(store.get("k"), Ok(Some((Vec::new(), 2))));
}

/// A host that fails at its `n`th call.
struct Failing(Store, u32);

impl SharedData for Failing {
    type Error = u32;

    fn get(&mut self, key: &str) -> Result<Option<(Vec<u8>, u32)>, u32> {
        self.1 = self.1.checked_sub(1).ok_or(7_u32)?;
        Ok(self.0.get(key).unwrap())
    }

    fn set(&mut self, key: &str, value: &[u8], cas: u32) -> Result<bool, u32> {
        self.1 = self.1.checked_sub(1).ok_or(8_u32)?;
        Ok(self.0.set(key, value, cas).unwrap())
    }
}

#[test]
fn an_error_of_the_host_is_handed_on() {
    let map = refusing(4, 4);
    let change = |_: Option<&[u8]>| {
        let payload = b"record".to_vec();
        let expires_ms = 100;
        (
            dragoman_slots::Change::Put {
                payload,
                expires_ms,
            },
            (),
        )
    };
    for (calls, expected) in [(0, Err(7)), (1, Err(8)), (2, Ok(Outcome::Done(())))] {
        let mut failing = Failing(Store::default(), calls);
        assert_eq!(map.update(&mut failing, &key("a", 1), 0, change), expected);
    }
    let mut failing = Failing(Store::default(), 0);
    assert_eq!(map.read(&mut failing, &key("a", 1), 0), Err(7));
    assert_eq!(Salt::agree(&mut failing, [1; 16]), Err(7));
}
