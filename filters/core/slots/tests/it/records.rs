//! One writer.

use dragoman_slots::{Change, Key, MAX_TENANT_BYTES, Outcome, Read, Salt, WhenFull};

use crate::fake::*;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

#[test]
fn a_record_reads_as_it_was_put_until_it_expires() {
    let (map, mut store) = (refusing(4, 4), Store::default());
    let outcome = put(&map, &mut store, &key("a", 1), 100, (b"first!", 200));
    assert_eq!(outcome, Outcome::Done(None));
    assert_eq!(read(&map, &mut store, &key("a", 1), 199), found(b"first!"));
    assert_eq!(read(&map, &mut store, &key("a", 1), 200), Read::Absent);
    let outcome = put(&map, &mut store, &key("a", 1), 200, (b"second", 300));
    assert_eq!(outcome, Outcome::Done(None));
    assert_eq!(read(&map, &mut store, &key("a", 1), 200), found(b"second"));
}

#[test]
fn a_change_sees_the_record_and_replaces_it() {
    let (map, mut store) = (refusing(4, 4), Store::default());
    put(&map, &mut store, &key("a", 1), 0, (b"old", 10));
    put(&map, &mut store, &key("a", 2), 0, (b"other", 10));
    let outcome = put(&map, &mut store, &key("a", 1), 0, (b"new", 20));
    assert_eq!(outcome, Outcome::Done(Some(b"old".to_vec())));
    assert_eq!(read(&map, &mut store, &key("a", 1), 15), found(b"new"));
    assert_eq!(read(&map, &mut store, &key("a", 2), 9), found(b"other"));
}

#[test]
fn a_record_that_is_removed_is_absent_and_its_slot_keeps_the_others() {
    let (map, mut store) = (refusing(4, 4), Store::default());
    put(&map, &mut store, &key("a", 1), 0, (b"one", 10));
    put(&map, &mut store, &key("a", 2), 0, (b"two", 10));
    let outcome = remove(&map, &mut store, &key("a", 1), 0);
    assert_eq!(outcome, Outcome::Done(Some(b"one".to_vec())));
    assert_eq!(read(&map, &mut store, &key("a", 1), 0), Read::Absent);
    assert_eq!(read(&map, &mut store, &key("a", 2), 0), found(b"two"));
    remove(&map, &mut store, &key("a", 2), 0);
    assert_eq!(store.value(SLOT), Some(b"".as_slice()), "counts as deleted");
    put(&map, &mut store, &key("a", 3), 0, (b"three", 10));
    assert_eq!(read(&map, &mut store, &key("a", 3), 0), found(b"three"));
}

#[test]
fn tenants_with_the_same_digest_have_records_of_their_own() {
    let (map, mut store) = (refusing(4, 4), Store::default());
    put(&map, &mut store, &key("a", 1), 0, (b"of a", 10));
    assert_eq!(read(&map, &mut store, &key("b", 1), 0), Read::Absent);
    let outcome = put(&map, &mut store, &key("b", 1), 0, (b"of b", 10));
    assert_eq!(outcome, Outcome::Done(None));
    assert_eq!(read(&map, &mut store, &key("a", 1), 0), found(b"of a"));
    assert_eq!(read(&map, &mut store, &key("b", 1), 0), found(b"of b"));
}

#[test]
fn nothing_is_written_where_nothing_changes() {
    let (map, mut store) = (refusing(4, 4), Store::default());
    remove(&map, &mut store, &key("a", 1), 0);
    let kept = map.update(&mut store, &key("a", 1), 0, |_| (Change::Keep, ()));
    assert_eq!(kept.unwrap(), Outcome::Done(()));
    assert_eq!((store.gets, store.sets), (2, 0));
    assert_eq!(store.keys().len(), 0);
}

#[test]
fn expired_records_are_dropped_when_their_slot_is_written() {
    let (map, mut store) = (refusing(9, 9), Store::default());
    for id in 0..8 {
        put(&map, &mut store, &key("a", id), 0, (b"record", 100));
    }
    put(&map, &mut store, &key("a", 8), 100, (b"record", 200));
    assert_eq!(store.value(SLOT).unwrap().len(), 3 + usize::from(SIZE));
}

#[test]
fn a_live_record_is_never_dropped_for_another_where_the_purpose_refuses() {
    let (map, mut store) = (refusing(3, 3), Store::default());
    for id in 0..3 {
        let outcome = put(&map, &mut store, &key("a", id), 0, (b"record", 100));
        assert_eq!(outcome, Outcome::Done(None));
    }
    let outcome = put(&map, &mut store, &key("b", 9), 99, (b"record", 500));
    assert_eq!(outcome, Outcome::Full);
    for id in 0..3 {
        assert_eq!(read(&map, &mut store, &key("a", id), 99), found(b"record"));
    }
    let outcome = put(&map, &mut store, &key("b", 9), 100, (b"record", 500));
    assert_eq!(outcome, Outcome::Done(None), "the others have expired");
}

#[test]
fn a_tenant_has_no_more_than_its_share_and_others_still_find_room() {
    let (map, mut store) = (refusing(4, 2), Store::default());
    for (id, expected) in [
        (0, Outcome::Done(None)),
        (1, Outcome::Done(None)),
        (2, Outcome::ShareSpent),
        (3, Outcome::ShareSpent),
    ] {
        let outcome = put(&map, &mut store, &key("a", id), 0, (b"record", 100));
        assert_eq!(outcome, expected);
    }
    for id in 0..2 {
        let outcome = put(&map, &mut store, &key("b", id), 0, (b"record", 100));
        assert_eq!(outcome, Outcome::Done(None));
    }
    let outcome = put(&map, &mut store, &key("a", 2), 100, (b"record", 200));
    assert_eq!(outcome, Outcome::Done(None), "expired ones do not count");
}

#[test]
fn a_record_that_does_not_grow_always_has_room() {
    let (roomy, narrow, mut store) = (refusing(3, 3), refusing(1, 1), Store::default());
    for id in 0..3 {
        put(&roomy, &mut store, &key("a", id), 0, (b"record", 100));
    }
    let outcome = put(&narrow, &mut store, &key("a", 1), 0, (b"RECORD", 200));
    assert_eq!(outcome, Outcome::Done(Some(b"record".to_vec())));
    let outcome = put(&narrow, &mut store, &key("a", 1), 0, (b"RECORDS", 200));
    assert_eq!(outcome, Outcome::Full);
    assert_eq!(read(&narrow, &mut store, &key("a", 1), 0), found(b"RECORD"));
}

#[test]
fn what_may_be_forgotten_gives_way_but_only_where_room_is_needed() {
    let is_forgettable = |payload: &[u8], now_ms| payload == b"full!!" && now_ms >= 50;
    let map = map(one_slot(3, 3, WhenFull::Evict(is_forgettable)));
    let mut store = Store::default();
    put(&map, &mut store, &key("a", 0), 0, (b"full!!", 100));
    put(&map, &mut store, &key("a", 1), 0, (b"in use", 100));
    put(&map, &mut store, &key("a", 2), 50, (b"in use", 100));
    assert_eq!(read(&map, &mut store, &key("a", 0), 50), found(b"full!!"));
    let outcome = put(&map, &mut store, &key("b", 3), 49, (b"in use", 100));
    assert_eq!(outcome, Outcome::Full);
    let outcome = put(&map, &mut store, &key("b", 3), 50, (b"in use", 100));
    assert_eq!(outcome, Outcome::Done(None));
    assert_eq!(read(&map, &mut store, &key("a", 0), 50), Read::Absent);
    for (tenant, id) in [("a", 1), ("a", 2), ("b", 3)] {
        let record = read(&map, &mut store, &key(tenant, id), 50);
        assert_eq!(record, found(b"in use"));
    }
    let outcome = put(&map, &mut store, &key("b", 4), 50, (b"in use", 100));
    assert_eq!(outcome, Outcome::Full);
}

#[test]
fn a_payload_longer_than_a_slot_is_refused() {
    let mut purpose = one_slot(1, 1, WhenFull::Refuse);
    (purpose.slot_bytes, purpose.tenant_bytes) = (u16::MAX, u16::MAX);
    let (map, mut store) = (map(purpose), Store::default());
    let longest = usize::from(u16::MAX) - 3 - 44 - 1;
    for (length, fits) in [(longest, true), (longest + 1, false), (1 << 17, false)] {
        let payload = vec![1; length];
        let outcome = put(&map, &mut store, &key("a", 1), 0, (&payload, 100));
        assert_eq!(outcome == Outcome::Done(None), fits, "{length}");
        assert_eq!(outcome == Outcome::Full, !fits, "{length}");
        let expected = if fits { found(&payload) } else { Read::Absent };
        assert_eq!(read(&map, &mut store, &key("a", 1), 0), expected);
        remove(&map, &mut store, &key("a", 1), 0);
    }
}

#[test]
fn a_tenant_of_the_longest_id_has_records_and_of_a_longer_one_no_key() {
    let (longest, longer) = (
        "t".repeat(MAX_TENANT_BYTES),
        "t".repeat(MAX_TENANT_BYTES + 1),
    );
    let (map, mut store) = (refusing(9, 9), Store::default());
    put(&map, &mut store, &key(&longest, 1), 0, (b"record", 100));
    let record = read(&map, &mut store, &key(&longest, 1), 0);
    assert_eq!(record, found(b"record"));
    assert_eq!(Key::new(&longer, sha(1)), None);
}

#[test]
fn all_callers_agree_on_the_first_salt() {
    let mut store = Store::default();
    let first = Salt::agree(&mut store, [1; 16]).unwrap();
    assert!(first.is_some());
    assert_eq!(Salt::agree(&mut store, [2; 16]).unwrap(), first);
    let other = Salt::agree(&mut Store::default(), [2; 16]).unwrap();
    assert_ne!(other, first, "another process has another one");
    assert_eq!(format!("{:?}", first.unwrap()), "Salt(..)");
}

#[test]
fn a_salt_of_an_unknown_layout_is_none_and_stays() {
    let records = [[2; 17].as_slice(), &[1; 16], &[1; 18], &[1]];
    for record in records {
        let mut store = Store::default();
        store.put("dragoman/1/salt", record);
        assert_eq!(Salt::agree(&mut store, [9; 16]).unwrap(), None);
        assert_eq!(store.value("dragoman/1/salt"), Some(record));
    }
}
