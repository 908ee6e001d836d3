//! Random changes of three actors that interrupt each other before any set, against a model.
//!
//! An interruption is a whole change of another actor, made between another's get and set; it may
//! be interrupted itself. An actor's last attempt is not interrupted, so every change takes effect
//! at the moment it ends: the model makes them in the order in which they end.

use std::collections::VecDeque;
use std::convert::Infallible;

use dragoman_slots::{Change, Outcome, Read, SharedData, SlotMap, WhenFull};
use proptest::prelude::*;

use crate::fake::*;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const ACTORS: usize = 3;
const TENANTS: [&str; 2] = ["a", "b"];
/// First byte of a payload that may be forgotten.
const FORGETTABLE: u8 = 0;

type Id = (&'static str, u32);

#[derive(Clone, Debug)]
enum Op {
    Put(Id, Vec<u8>, u64),
    Remove(Id),
    Look(Id),
    Read(Id),
    Wait(u64),
}

/// What an actor saw, when it ended.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Outcome(Outcome<Option<Vec<u8>>>),
    Read(Read),
    Nothing,
}

#[derive(Clone, Debug)]
struct Ended {
    op: Op,
    now_ms: u64,
    seen: Seen,
}

struct World {
    map: SlotMap,
    store: Store,
    now_ms: u64,
    /// Before each set: the change of another actor, or none.
    interruptions: VecDeque<Option<Op>>,
    running: usize,
    ended: Vec<Ended>,
}

impl SharedData for World {
    type Error = Infallible;

    fn get(&mut self, key: &str) -> Result<Option<(Vec<u8>, u32)>, Infallible> {
        self.store.get(key)
    }

    fn set(&mut self, key: &str, value: &[u8], cas: u32) -> Result<bool, Infallible> {
        if self.running < ACTORS
            && let Some(Some(op)) = self.interruptions.pop_front()
        {
            self.run(op);
        }
        self.store.set(key, value, cas)
    }
}

impl World {
    fn run(&mut self, op: Op) {
        self.running += 1;
        let (map, now_ms) = (self.map, self.now_ms);
        let seen = match op.clone() {
            Op::Put(id, payload, expires_ms) => {
                let key = key(id.0, id.1);
                Seen::Outcome(put(&map, self, &key, now_ms, (&payload, expires_ms)))
            }
            Op::Remove(id) => Seen::Outcome(remove(&map, self, &key(id.0, id.1), now_ms)),
            Op::Look(id) => {
                let look = |old: Option<&[u8]>| (Change::Keep, old.map(<[u8]>::to_vec));
                let key = key(id.0, id.1);
                Seen::Outcome(map.update(self, &key, now_ms, look).unwrap())
            }
            Op::Read(id) => Seen::Read(read(&map, self, &key(id.0, id.1), now_ms)),
            Op::Wait(ms) => {
                self.now_ms += ms;
                Seen::Nothing
            }
        };
        self.running -= 1;
        self.ended.push(Ended { op, now_ms, seen });
    }
}

/// The same promises, written down again in the simplest way.
struct Model {
    slot: usize,
    share: usize,
    evicts: bool,
    records: Vec<(Id, Vec<u8>, u64)>,
}

impl Model {
    fn live(&self, id: Id, now_ms: u64) -> Option<Vec<u8>> {
        let mut found = self.records.iter();
        let found = found.find(|(is, _, expires_ms)| *is == id && *expires_ms > now_ms);
        found.map(|(_, payload, _)| payload.clone())
    }

    fn run(&mut self, op: &Op, now_ms: u64) -> Seen {
        match op {
            Op::Wait(_) => Seen::Nothing,
            Op::Read(id) => Seen::Read(match self.live(*id, now_ms) {
                Some(payload) => Read::Found(payload),
                None => Read::Absent,
            }),
            Op::Look(id) => Seen::Outcome(Outcome::Done(self.live(*id, now_ms))),
            Op::Remove(id) => {
                let old = self.live(*id, now_ms);
                if old.is_some() {
                    self.records
                        .retain(|(is, _, expires_ms)| *is != *id && *expires_ms > now_ms);
                }
                Seen::Outcome(Outcome::Done(old))
            }
            Op::Put(id, payload, expires_ms) => {
                Seen::Outcome(self.put(*id, payload, *expires_ms, now_ms))
            }
        }
    }

    fn put(
        &mut self,
        id: Id,
        payload: &[u8],
        expires_ms: u64,
        now_ms: u64,
    ) -> Outcome<Option<Vec<u8>>> {
        let size = |payload: &[u8]| 45 + payload.len();
        let old = self.live(id, now_ms);
        let mut others = self.records.clone();
        others.retain(|(is, _, expires_ms)| *is != id && *expires_ms > now_ms);
        let mut forgotten = others.clone();
        forgotten.retain(|(_, payload, _)| payload[0] != FORGETTABLE);
        let room = |others: &[(Id, Vec<u8>, u64)]| {
            let bytes = |of: &dyn Fn(&Id) -> bool| -> usize {
                let counted = others.iter().filter(|(id, _, _)| of(id));
                size(payload) + counted.map(|(_, payload, _)| size(payload)).sum::<usize>()
            };
            if 3 + bytes(&|_| true) > self.slot {
                Outcome::Full
            } else if bytes(&|of| of.0 == id.0) > self.share {
                Outcome::ShareSpent
            } else {
                Outcome::Done(old.clone())
            }
        };
        let outcome = match room(&others) {
            Outcome::Done(_) => Outcome::Done(old.clone()),
            _ if old.as_ref().is_some_and(|old| size(payload) <= size(old)) => {
                Outcome::Done(old.clone())
            }
            _ if self.evicts => {
                others = forgotten;
                room(&others)
            }
            full => full,
        };
        if let Outcome::Done(_) = outcome {
            others.push((id, payload.to_vec(), expires_ms));
            self.records = others;
        }
        outcome
    }
}

fn id() -> impl Strategy<Value = Id> {
    (proptest::sample::select(&TENANTS[..]), 0..4_u32)
}

fn op() -> impl Strategy<Value = Op> {
    let payload = proptest::collection::vec(0..3_u8, 1..40);
    prop_oneof![
        6 => (id(), payload, 0..60_u64).prop_map(|(id, payload, expires_ms)| Op::Put(id, payload, expires_ms)),
        2 => id().prop_map(Op::Remove),
        1 => id().prop_map(Op::Look),
        1 => id().prop_map(Op::Read),
        1 => (0..9_u64).prop_map(Op::Wait),
    ]
}

fn check(ops: Vec<Op>, interruptions: Vec<Option<Op>>, evicts: bool) -> Result<(), TestCaseError> {
    let when_full = match evicts {
        true => WhenFull::Evict(|payload, _| payload[0] == FORGETTABLE),
        false => WhenFull::Refuse,
    };
    let purpose = one_slot(5, 3, when_full);
    let mut world = World {
        map: map(purpose),
        store: Store::default(),
        now_ms: 0,
        interruptions: interruptions.into(),
        running: 0,
        ended: Vec::new(),
    };
    for op in ops {
        world.run(op);
        let slot = world.store.value(SLOT).unwrap_or_default();
        prop_assert!(slot.len() <= usize::from(purpose.slot_bytes));
    }
    let mut model = Model {
        slot: usize::from(purpose.slot_bytes),
        share: usize::from(purpose.tenant_bytes),
        evicts,
        records: Vec::new(),
    };
    for ended in world.ended {
        let expected = model.run(&ended.op, ended.now_ms);
        prop_assert_eq!(&ended.seen, &expected, "{:?} at {}", ended.op, ended.now_ms);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn three_actors_see_what_the_model_sees(
        ops in proptest::collection::vec(op(), 1..40),
        interruptions in proptest::collection::vec(proptest::option::weighted(0.6, op()), 0..40),
        evicts: bool,
    ) {
        check(ops, interruptions, evicts)?;
    }
}
