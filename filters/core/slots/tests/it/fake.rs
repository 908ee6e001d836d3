//! Shared data as Envoy has it: tokens of one counter, a key that is absent is created whatever
//! the token, and no key ever goes away.

use std::collections::HashMap;
use std::convert::Infallible;

use dragoman_slots::{Change, Key, Outcome, Purpose, Read, Salt, SharedData, SlotMap, WhenFull};

#[derive(Default)]
pub struct Store {
    values: HashMap<String, (Vec<u8>, u32)>,
    last_cas: u32,
    pub gets: usize,
    pub sets: usize,
}

impl SharedData for Store {
    type Error = Infallible;

    fn get(&mut self, key: &str) -> Result<Option<(Vec<u8>, u32)>, Infallible> {
        self.gets += 1;
        Ok(self.values.get(key).cloned())
    }

    fn set(&mut self, key: &str, value: &[u8], cas: u32) -> Result<bool, Infallible> {
        self.sets += 1;
        if self.values.get(key).is_some_and(|(_, is)| *is != cas) {
            return Ok(false);
        }
        self.put(key, value);
        Ok(true)
    }
}

impl Store {
    /// Sets a key, whatever its token.
    pub fn put(&mut self, key: &str, value: &[u8]) {
        self.last_cas += 1;
        let value = (value.to_vec(), self.last_cas);
        self.values.insert(key.to_owned(), value);
    }

    pub fn value(&self, key: &str) -> Option<&[u8]> {
        self.values.get(key).map(|(value, _)| value.as_slice())
    }

    pub fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self.values.keys().cloned().collect();
        keys.sort();
        keys
    }

    /// Bytes of keys and values.
    pub fn bytes(&self) -> u64 {
        let each = self.values.iter();
        each.map(|(key, (value, _))| (key.len() + value.len()) as u64)
            .sum()
    }
}

/// Shared data where a test does something of its own before every set.
pub struct Raced<F> {
    pub store: Store,
    pub before_set: F,
}

impl<F: FnMut(&mut Store, &str)> SharedData for Raced<F> {
    type Error = Infallible;

    fn get(&mut self, key: &str) -> Result<Option<(Vec<u8>, u32)>, Infallible> {
        self.store.get(key)
    }

    fn set(&mut self, key: &str, value: &[u8], cas: u32) -> Result<bool, Infallible> {
        (self.before_set)(&mut self.store, key);
        self.store.set(key, value, cas)
    }
}

/// One slot, so that all records meet, with room for `slot` records of [`SIZE`] bytes, `share` of
/// them of one tenant.
pub fn one_slot(slot: u16, share: u16, when_full: WhenFull) -> Purpose {
    Purpose {
        name: "test",
        slots: 1,
        slot_bytes: 3 + SIZE * slot,
        tenant_bytes: SIZE * share,
        when_full,
    }
}

/// Bytes of a record of tenant `a` or `b` whose payload is 6 bytes long.
pub const SIZE: u16 = 44 + 1 + 6;

/// The one key of [`one_slot`].
pub const SLOT: &str = "dragoman/1/test/0";

pub fn salt() -> Salt {
    Salt::agree(&mut Store::default(), [7; 16])
        .unwrap()
        .unwrap()
}

pub fn map(purpose: Purpose) -> SlotMap {
    SlotMap::new(purpose, salt())
}

pub fn refusing(slot: u16, share: u16) -> SlotMap {
    map(one_slot(slot, share, WhenFull::Refuse))
}

/// A digest; any two differ in several bytes.
pub fn sha(id: u32) -> [u8; 32] {
    id.to_le_bytes().repeat(8).try_into().unwrap()
}

pub fn key(tenant: &str, id: u32) -> Key<'_> {
    Key::new(tenant, sha(id)).unwrap()
}

/// Puts a record, with what was there as the answer.
pub fn put<S: SharedData<Error = Infallible>>(
    map: &SlotMap,
    shared: &mut S,
    key: &Key<'_>,
    now_ms: u64,
    record: (&[u8], u64),
) -> Outcome<Option<Vec<u8>>> {
    let (payload, expires_ms) = record;
    let change = |old: Option<&[u8]>| {
        let payload = payload.to_vec();
        let change = Change::Put {
            payload,
            expires_ms,
        };
        (change, old.map(<[u8]>::to_vec))
    };
    map.update(shared, key, now_ms, change).unwrap()
}

pub fn remove<S: SharedData<Error = Infallible>>(
    map: &SlotMap,
    shared: &mut S,
    key: &Key<'_>,
    now_ms: u64,
) -> Outcome<Option<Vec<u8>>> {
    let change = |old: Option<&[u8]>| (Change::Remove, old.map(<[u8]>::to_vec));
    map.update(shared, key, now_ms, change).unwrap()
}

pub fn read<S: SharedData<Error = Infallible>>(
    map: &SlotMap,
    shared: &mut S,
    key: &Key<'_>,
    now_ms: u64,
) -> Read {
    map.read(shared, key, now_ms).unwrap()
}

pub fn found(payload: &[u8]) -> Read {
    Read::Found(payload.to_vec())
}

/// A counter as payload.
pub fn count(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap())
}

/// Adds one to the counter of a key, with its value before as the answer.
pub fn add_one<S: SharedData<Error = Infallible>>(
    map: &SlotMap,
    shared: &mut S,
    key: &Key<'_>,
) -> Outcome<u64> {
    let change = |old: Option<&[u8]>| {
        let before = old.map_or(0, count);
        let payload = (before + 1).to_le_bytes().to_vec();
        let change = Change::Put {
            payload,
            expires_ms: u64::MAX,
        };
        (change, before)
    };
    map.update(shared, key, 0, change).unwrap()
}
