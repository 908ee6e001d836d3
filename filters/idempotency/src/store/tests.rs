use std::collections::BTreeMap;
use std::convert::Infallible;

use super::*;
use crate::claim::Claimant;
use crate::copying::Memory;
use crate::keeping::{Answering, Kept};
use crate::record::{Fingerprint, Owner};

#[derive(Default)]
struct Map(BTreeMap<String, Vec<u8>>);

impl SharedData for Map {
    type Error = Infallible;

    fn get(&mut self, key: &str) -> Result<Option<(Vec<u8>, u32)>, Infallible> {
        Ok(self.0.get(key).map(|value| (value.clone(), 0)))
    }

    fn set(&mut self, key: &str, value: &[u8], _: u32) -> Result<bool, Infallible> {
        self.0.insert(key.to_owned(), value.to_vec());
        Ok(true)
    }
}

/// One slot and one chunk.
fn small(shared: &mut Map) -> Store {
    let salt = Salt::agree(shared, [1; 16]).unwrap().unwrap();
    let records = Purpose {
        slots: 1,
        ..RECORDS
    };
    let bodies = PoolBounds {
        chunks: 1,
        ..BODIES
    };
    Store::of(records, bodies, salt)
}

fn claim(number: u32) -> Claim {
    Claim {
        id: RecordId::new(None, &number.to_le_bytes()),
        claimant: Claimant {
            fingerprint: Fingerprint {
                api: 1,
                body_sha256: [0; 32],
            },
            owner: Owner([7; 16]),
            request_id: "r1".to_owned(),
        },
        chunks: None,
    }
}

fn asked(store: Store, shared: &mut Map, number: u32) -> Outcome<Claimed> {
    store.claim(shared, &claim(number), 0, 10).unwrap()
}

fn answer(store: Store, shared: &mut Map, number: u32, length: usize) -> Kept {
    let mut claim = claim(number);
    let until = Until {
        now_ms: 0,
        expires_ms: 10,
    };
    let memory = Memory::new(1 << 20);
    let mut answering = Answering::new(&memory, 1 << 20, 200, Some(Vec::new()), None);
    let body = vec![b'x'; length];
    answering
        .push(shared, store, &mut claim, &body, until)
        .unwrap();
    answering.keep(shared, store, &mut claim, until).unwrap()
}

#[test]
fn a_full_slot_refuses_new_keys_and_forgets_none() {
    let mut shared = Map::default();
    let store = small(&mut shared);
    let granted = Outcome::Done(Claimed::Granted);
    let mut claims = 0;
    while asked(store, &mut shared, claims) == granted {
        claims += 1;
    }
    assert!(claims > 80, "{claims}");
    assert_eq!(asked(store, &mut shared, claims), Outcome::ShareSpent);

    // Answers need more room than claims: the first takes the chunk, the others are given up.
    for number in 0..claims {
        let kept = answer(store, &mut shared, number, 4000);
        assert_eq!(kept == Kept::Whole, number == 0, "{number}: {kept:?}");
    }
    for number in 0..claims {
        let known = asked(store, &mut shared, number);
        let is_known = match known {
            Outcome::Done(Claimed::Answered(_)) => number == 0,
            Outcome::Done(Claimed::TooLarge) => number > 0,
            _ => false,
        };
        assert!(is_known, "{number}: {known:?}");
    }
}

#[test]
fn what_is_given_up_leaves_its_chunks_to_others() {
    let mut shared = Map::default();
    let store = small(&mut shared);
    for number in 0..2 {
        asked(store, &mut shared, number);
    }
    assert_eq!(answer(store, &mut shared, 0, 70_000), Kept::TooLarge);
    assert_eq!(answer(store, &mut shared, 1, 60_000), Kept::Whole);
}

#[test]
fn the_bound_is_what_the_readme_says() {
    assert_eq!(bound_bytes().div_ceil(1 << 20), 193);
}

#[test]
fn any_number_of_keys_stays_within_the_bound() {
    let mut shared = Map::default();
    let salt = Salt::agree(&mut shared, [1; 16]).unwrap().unwrap();
    let store = Store::new(salt);
    let mut kept = 0;
    for number in 0..30_000 {
        if asked(store, &mut shared, number) == Outcome::Done(Claimed::Granted)
            && answer(store, &mut shared, number, 2900) == Kept::Whole
        {
            kept += 1;
        }
    }
    let used = shared.0.iter().map(|(key, value)| key.len() + value.len());
    let used = used.sum::<usize>() as u64;
    assert!(used <= bound_bytes(), "{used}");
    assert!(kept > 16_000 && kept < 30_000, "{kept}");
}
