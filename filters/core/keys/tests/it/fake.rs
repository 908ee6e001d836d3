//! Shared data as Envoy has it, and tables of small numbers.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;

use dragoman_keys::{Begin, Build, Departure, Digest, Found, Looker, Progress, STATE_KEY};
use dragoman_keys::{Salt, State, Sweep, Written, begin, state};
use dragoman_slots::SharedData;

#[derive(Default)]
pub struct Store {
    pub values: HashMap<String, (Vec<u8>, u32)>,
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
        self.last_cas += 1;
        let value = (value.to_vec(), self.last_cas);
        self.values.insert(key.to_owned(), value);
        Ok(true)
    }
}

impl Store {
    /// Bytes of all buckets, without their names.
    pub fn bucket_bytes(&self) -> usize {
        let buckets = self.values.iter().filter(|(key, _)| *key != STATE_KEY);
        buckets.map(|(_, (value, _))| value.len()).sum()
    }

    pub fn state(&mut self) -> State {
        state(self).unwrap().unwrap()
    }
}

pub const SALT: Salt = Salt([7; 16]);

/// A digest; any two differ in several bytes.
pub fn sha(key: u32) -> Digest {
    key.to_le_bytes().repeat(8).try_into().unwrap()
}

/// A record says which key it is of, and in which version of the table.
pub fn record(key: u32, version: u32) -> Vec<u8> {
    [key.to_le_bytes(), version.to_le_bytes()].concat()
}

pub fn begun<S: SharedData<Error = Infallible>>(shared: &mut S, keys: u32) -> Build {
    match begin(shared, Some(keys), SALT).unwrap() {
        Begin::Building(build) => build,
        Begin::Occupied => panic!("the other area is not clean"),
    }
}

pub fn add<S: SharedData<Error = Infallible>>(
    build: &mut Build,
    shared: &mut S,
    key: u32,
    version: u32,
) -> Written {
    build.add(shared, &sha(key), &record(key, version)).unwrap()
}

/// Replaces the table by these keys; the former one is not swept yet.
pub fn replace(store: &mut Store, keys: &[u32], version: u32) {
    let mut build = begun(store, keys.len().try_into().unwrap());
    for key in keys {
        assert_eq!(add(&mut build, store, *key, version), Written::Done);
    }
    assert!(build.commit(store, &version.to_string(), 0).unwrap());
}

/// What a thread without any memory finds.
pub fn look<S: SharedData<Error = Infallible>>(shared: &mut S, key: u32) -> Found {
    Looker::default().find(shared, &sha(key), 0).unwrap()
}

pub fn found(key: u32, version: u32) -> Found {
    Found::Record(record(key, version))
}

/// The keys of the former table, each with the version before and after.
pub fn sweep(store: &mut Store) -> BTreeMap<u32, (u32, Option<u32>)> {
    let mut told = BTreeMap::new();
    let mut sweep = Sweep::of(&store.state()).unwrap();
    while sweep.step(store, 100, |key| tell(&mut told, key)).unwrap() == Progress::More {}
    told
}

pub fn tell(told: &mut BTreeMap<u32, (u32, Option<u32>)>, departure: Departure<'_>) {
    let (key, before) = numbers(departure.before);
    assert_eq!(departure.digest, &sha(key));
    let after = departure.after.map(|after| numbers(after).1);
    assert_eq!(
        told.insert(key, (before, after)),
        None,
        "{key} is told twice"
    );
}

/// Key and version of a record.
pub fn numbers(record: &[u8]) -> (u32, u32) {
    let (key, version) = record.split_at(4);
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    (number(key), number(version))
}
