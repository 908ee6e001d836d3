//! Sets that replace each other, whoever is interrupted or lost in the midst.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets the unexpected must fail"
)]

use std::collections::HashMap;

use dragoman_issuers::{
    FRESH_MS, Looker, MAX_ETAG_BYTES, MAX_SET_BYTES, Origin, Publish, Seen, WANT_EVERY_MS, confirm,
    publish, published, want, wanted,
};
use dragoman_slots::SharedData;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// Shared data as Envoy has it.
#[derive(Clone, Default)]
struct Store {
    values: HashMap<String, (Vec<u8>, u32)>,
    last_cas: u32,
    calls: usize,
    /// What happens before the call of this number.
    event: Option<(usize, Event)>,
}

#[derive(Clone, Copy)]
enum Event {
    /// Another writer publishes these keys.
    Overtaken(&'static str),
    /// The thread is lost.
    Lost,
}

impl Store {
    fn count(&mut self) -> Result<(), String> {
        self.calls += 1;
        match self.event {
            Some((at, Event::Lost)) if at == self.calls => Err("lost".to_owned()),
            Some((at, Event::Overtaken(keys))) if at == self.calls => {
                self.event = None;
                assert!(put(self, keys)?);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn with(&self, at: usize, event: Event) -> Self {
        Self {
            calls: 0,
            event: Some((at, event)),
            ..self.clone()
        }
    }
}

impl SharedData for Store {
    type Error = String;

    fn get(&mut self, key: &str) -> Result<Option<(Vec<u8>, u32)>, String> {
        self.count()?;
        Ok(self.values.get(key).cloned())
    }

    fn set(&mut self, key: &str, value: &[u8], cas: u32) -> Result<bool, String> {
        self.count()?;
        if self.values.get(key).is_some_and(|(_, is)| *is != cas) {
            return Ok(false);
        }
        self.last_cas += 1;
        let value = (value.to_vec(), self.last_cas);
        self.values.insert(key.to_owned(), value);
        Ok(true)
    }
}

fn origin() -> Origin {
    Origin::of(&["https://issuer.example", "/jwks"])
}

/// Publishes these keys under themselves as the tag.
fn put(store: &mut Store, keys: &str) -> Result<bool, String> {
    let set = Publish {
        keys: keys.as_bytes(),
        etag: keys,
        now_ms: 1000,
    };
    publish(store, "corp", origin(), &set)
}

fn in_force(store: &mut Store) -> Option<String> {
    let set = published(store, "corp", origin()).unwrap()?;
    let keys = String::from_utf8(set.keys).unwrap();
    assert_eq!(set.etag.as_deref(), Some(&*keys), "of another set");
    Some(keys)
}

fn changed(keys: &str) -> Seen {
    Seen::Changed(keys.as_bytes().to_vec())
}

#[test]
fn a_thread_sees_each_set_once_and_looks_once_a_second() {
    let mut store = Store::default();
    let mut looker = Looker::new("corp", origin());
    for now_ms in [0, 1, 2] {
        assert_eq!(looker.look(&mut store, now_ms), Ok(Seen::NotReady));
    }
    assert!(put(&mut store, "one").unwrap());
    assert_eq!(looker.look(&mut store, 3), Ok(changed("one")));

    store.calls = 0;
    for now_ms in 4..FRESH_MS {
        assert_eq!(looker.look(&mut store, now_ms), Ok(Seen::Same));
    }
    assert_eq!(store.calls, 0);
    assert_eq!(looker.look(&mut store, 3 + FRESH_MS), Ok(Seen::Same));
    assert_eq!(store.calls, 1, "only the state");

    assert!(put(&mut store, "two").unwrap());
    let later = 3 + 2 * FRESH_MS;
    assert_eq!(looker.look(&mut store, later - 1), Ok(Seen::Same));
    assert_eq!(looker.look(&mut store, later), Ok(changed("two")));
}

#[test]
fn a_confirmed_set_is_not_a_new_one() {
    let mut store = Store::default();
    assert!(put(&mut store, "one").unwrap());
    let mut looker = Looker::new("corp", origin());
    assert_eq!(looker.look(&mut store, 0), Ok(changed("one")));

    let first = published(&mut store, "corp", origin()).unwrap().unwrap();
    assert_eq!(first.confirmed_ms, 1000);
    assert_eq!(
        confirm(&mut store, "corp", first.number, None, 5000),
        Ok(true)
    );
    assert_eq!(
        confirm(&mut store, "corp", first.number + 1, Some("x"), 9000),
        Ok(false)
    );
    let confirmed = published(&mut store, "corp", origin()).unwrap().unwrap();
    assert_eq!(
        (confirmed.confirmed_ms, confirmed.etag.as_deref()),
        (5000, Some("one"))
    );
    assert_eq!(
        confirm(&mut store, "corp", first.number, Some("1b"), 5000),
        Ok(true)
    );
    let retagged = published(&mut store, "corp", origin()).unwrap().unwrap();
    assert_eq!(retagged.etag.as_deref(), Some("1b"));
    assert_eq!(looker.look(&mut store, FRESH_MS), Ok(Seen::Same));
}

#[test]
fn issuers_have_sets_of_their_own() {
    let mut store = Store::default();
    assert!(put(&mut store, "one").unwrap());
    let mut other = Looker::new("partner", origin());
    assert_eq!(other.look(&mut store, 0), Ok(Seen::NotReady));
    want(&mut store, "partner", 5).unwrap();
    assert_eq!(wanted(&mut store, "corp"), Ok(None));
    assert_eq!(wanted(&mut store, "partner"), Ok(Some(5)));
}

#[test]
fn a_set_from_elsewhere_does_not_count() {
    let mut store = Store::default();
    assert!(put(&mut store, "one").unwrap());
    let elsewhere = Origin::of(&["https://issuer.example", "/other"]);
    assert_eq!(published(&mut store, "corp", elsewhere), Ok(None));
    let mut looker = Looker::new("corp", elsewhere);
    assert_eq!(looker.look(&mut store, 0), Ok(Seen::NotReady));

    let set = Publish {
        keys: b"two",
        etag: "",
        now_ms: 0,
    };
    assert_eq!(publish(&mut store, "corp", elsewhere, &set), Ok(true));
    assert_eq!(looker.look(&mut store, 1), Ok(changed("two")));
    let two = published(&mut store, "corp", elsewhere).unwrap().unwrap();
    assert_eq!(two.etag, None);
    assert_ne!(Origin::of(&["ab", "c"]), Origin::of(&["a", "bc"]));
}

#[test]
fn a_writer_that_is_overtaken_anywhere_changes_nothing() {
    let mut start = Store::default();
    assert!(put(&mut start, "before").unwrap());
    start.calls = 0;
    let mut whole = start.clone();
    assert!(put(&mut whole, "slow").unwrap());
    for at in 1..=whole.calls {
        let mut store = start.with(at, Event::Overtaken("fast"));
        let won = put(&mut store, "slow").unwrap();
        let expected = if won { "slow" } else { "fast" };
        assert_eq!(in_force(&mut store).as_deref(), Some(expected), "call {at}");
    }
}

#[test]
fn a_writer_that_is_lost_anywhere_leaves_nothing_that_counts() {
    let mut start = Store::default();
    assert!(put(&mut start, "before").unwrap());
    start.calls = 0;
    let mut whole = start.clone();
    assert!(put(&mut whole, "lost").unwrap());
    for at in 1..=whole.calls {
        let mut store = start.with(at, Event::Lost);
        assert_eq!(put(&mut store, "lost"), Err("lost".to_owned()));
        store.event = None;
        assert_eq!(in_force(&mut store).as_deref(), Some("before"), "call {at}");
        assert!(put(&mut store, "next").unwrap(), "call {at}");
        assert_eq!(in_force(&mut store).as_deref(), Some("next"), "call {at}");
    }
}

#[test]
fn a_reader_between_two_sets_has_one_of_them() {
    let mut start = Store::default();
    assert!(put(&mut start, "before").unwrap());
    for at in 1..=2 {
        let mut store = start.with(at, Event::Overtaken("after"));
        let mut looker = Looker::new("corp", origin());
        let seen = looker.look(&mut store, 0).unwrap();
        assert!(
            [changed("before"), changed("after")].contains(&seen),
            "call {at}: {seen:?}"
        );
        let last = looker.look(&mut store, FRESH_MS).unwrap();
        assert!(
            [Seen::Same, changed("after")].contains(&last),
            "call {at}: {last:?}"
        );
    }
}

#[test]
fn what_is_too_long_and_states_of_another_layout_are_left_alone() {
    let mut store = Store::default();
    let long = vec![b'x'; MAX_SET_BYTES + 1];
    let tag = "t".repeat(MAX_ETAG_BYTES + 1);
    for (keys, etag) in [(long.as_slice(), ""), (&b"k"[..], tag.as_str())] {
        let set = Publish {
            keys,
            etag,
            now_ms: 0,
        };
        assert_eq!(publish(&mut store, "corp", origin(), &set), Ok(false));
    }
    assert!(store.values.is_empty());

    let strange = (vec![2, 0, 0], 1);
    let key = "dragoman/1/issuer/corp".to_owned();
    store.values.insert(key.clone(), strange.clone());
    assert_eq!(put(&mut store, "one"), Ok(false));
    assert_eq!(in_force(&mut store), None);
    assert_eq!(store.values[&key], strange);
}

#[test]
fn the_mark_is_set_once_a_second_and_keeps_the_latest_time() {
    let mut store = Store::default();
    let mut looker = Looker::new("corp", origin());
    assert_eq!(wanted(&mut store, "corp"), Ok(None));
    for (now_ms, expected) in [
        (100, 100),
        (101, 100),
        (99 + WANT_EVERY_MS, 100),
        (100 + WANT_EVERY_MS, 100 + WANT_EVERY_MS),
    ] {
        looker.want(&mut store, now_ms).unwrap();
        assert_eq!(wanted(&mut store, "corp"), Ok(Some(expected)), "{now_ms}");
    }
    want(&mut store, "corp", 5).unwrap();
    assert_eq!(wanted(&mut store, "corp"), Ok(Some(100 + WANT_EVERY_MS)));
}
