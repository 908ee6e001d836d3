//! Writers, sweeps and readers that interrupt each other before any host call.
//!
//! Each table has all of the lasting keys and one key of its own; a record says which version it is
//! of. Whatever happens, a reader finds a lasting key in a version that was in force at some time
//! during its look, and another table's own key never.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;

use dragoman_keys::{Begin, Build, Found, Looker, Other, Sweep, Written, abandon, begin, state};
use dragoman_slots::SharedData;
use proptest::prelude::*;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::fake::*;

const ACTORS: usize = 3;
/// Keys of every table.
const LASTING: u32 = 12;
/// The own key of a version is this much above its number.
const OWN: u32 = 1000;

#[derive(Clone, Copy, Debug)]
enum Op {
    /// Takes over as the writer: gives up or sweeps what it finds, and begins a table.
    Begin,
    /// A writer adds so many of its keys.
    Add(usize, usize),
    /// A writer adds the rest and commits.
    Commit(usize),
    /// Sweeps with this much work.
    Sweep(u32),
    /// Looks up a key of all tables.
    Look(u32),
}

/// A writer that is not done, perhaps overtaken long ago.
struct Writer {
    build: Build,
    version: u32,
    left: VecDeque<u32>,
}

struct World {
    store: Store,
    /// Before each host call: what another actor does, or nothing.
    interruptions: VecDeque<Option<Op>>,
    running: usize,
    writers: Vec<Option<Writer>>,
    versions: u32,
    /// Versions in the order in which they came into force.
    in_force: Vec<u32>,
    told: BTreeMap<(u32, u32), u32>,
    faults: Vec<String>,
}

impl SharedData for World {
    type Error = Infallible;

    fn get(&mut self, key: &str) -> Result<Option<(Vec<u8>, u32)>, Infallible> {
        self.interrupted();
        self.store.get(key)
    }

    fn set(&mut self, key: &str, value: &[u8], cas: u32) -> Result<bool, Infallible> {
        self.interrupted();
        let before = self.store.state().current.map(|current| current.table.id);
        let done = self.store.set(key, value, cas)?;
        let after = self.store.state().current;
        if let Some(after) = after.filter(|after| Some(after.table.id) != before) {
            self.in_force.push(after.etag.parse().unwrap());
        }
        Ok(done)
    }
}

impl World {
    fn new(interruptions: Vec<Option<Op>>) -> Self {
        let mut store = Store::default();
        replace(&mut store, &keys_of(1).into_iter().collect::<Vec<_>>(), 1);
        Self {
            store,
            interruptions: interruptions.into(),
            running: 0,
            writers: Vec::new(),
            versions: 1,
            in_force: vec![1],
            told: BTreeMap::new(),
            faults: Vec::new(),
        }
    }

    fn interrupted(&mut self) {
        if self.running < ACTORS
            && let Some(Some(op)) = self.interruptions.pop_front()
        {
            self.run(op);
        }
    }

    fn run(&mut self, op: Op) {
        self.running += 1;
        match op {
            Op::Begin => self.begin(),
            Op::Add(writer, count) => self.add(writer, count),
            Op::Commit(writer) => self.commit(writer),
            Op::Sweep(work) => self.sweep(work),
            Op::Look(key) => self.look(key % LASTING),
        }
        self.running -= 1;
    }

    fn begin(&mut self) {
        let now = state(self).unwrap().unwrap();
        match now.other {
            Other::Building(table) => drop(abandon(self, &table).unwrap()),
            Other::Former(_) | Other::Garbage(_) => self.sweep(u32::MAX),
            Other::Clean => {
                let Begin::Building(build) = begin(self, Some(20), SALT).unwrap() else {
                    return;
                };
                self.versions += 1;
                self.writers.push(Some(Writer {
                    build,
                    version: self.versions,
                    left: keys_of(self.versions),
                }));
            }
        }
    }

    /// The writer is out of reach for whoever interrupts it: each is one thread.
    fn with_writer(
        &mut self,
        index: usize,
        work: impl FnOnce(&mut Self, Writer) -> Option<Writer>,
    ) {
        let Some(index) = index.checked_rem(self.writers.len()) else {
            return;
        };
        if let Some(writer) = self.writers[index].take() {
            let kept = work(self, writer);
            self.writers[index] = kept;
        }
    }

    fn add(&mut self, index: usize, count: usize) {
        self.with_writer(index, |world, writer| world.added(writer, count));
    }

    fn commit(&mut self, index: usize) {
        self.with_writer(index, |world, writer| {
            let writer = world.added(writer, usize::MAX)?;
            let etag = writer.version.to_string();
            writer.build.commit(world, &etag, 0).unwrap();
            None
        });
    }

    /// The writer with so many keys more; `None` if another has overtaken it.
    fn added(&mut self, mut writer: Writer, count: usize) -> Option<Writer> {
        for _ in 0..count {
            let Some(key) = writer.left.pop_front() else {
                break;
            };
            match add(&mut writer.build, self, key, writer.version) {
                Written::Done => {}
                Written::Overtaken => return None,
                refused => self.faults.push(format!("{key}: {refused:?}")),
            }
        }
        Some(writer)
    }

    fn sweep(&mut self, work: u32) {
        let now = state(self).unwrap().unwrap();
        let Some(mut sweep) = Sweep::of(&now) else {
            return;
        };
        let mut told = Vec::new();
        sweep
            .step(self, work, |key| told.push(numbers(key.before)))
            .unwrap();
        for key in told {
            *self.told.entry(key).or_default() += 1;
        }
    }

    fn look(&mut self, key: u32) {
        let since = self.in_force.len() - 1;
        // Remembers nothing, so what it finds was in force after `since`.
        let found = Looker::default().find(self, &sha(key), 0).unwrap();
        let meanwhile = &self.in_force[since..];
        let right = match &found {
            Found::Record(record) => {
                let (of, version) = numbers(record);
                of == key && meanwhile.contains(&version)
            }
            // Only if the table changed under every look.
            Found::NotReady => meanwhile.len() > 3,
            Found::Absent => false,
        };
        if !right {
            self.faults.push(format!(
                "{key}: {found:?} while {meanwhile:?} were in force"
            ));
        }
    }
}

fn keys_of(version: u32) -> VecDeque<u32> {
    (0..LASTING).chain([OWN + version]).collect()
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => Just(Op::Begin),
        4 => (0..4_usize, 1..9_usize).prop_map(|(writer, count)| Op::Add(writer, count)),
        3 => (0..4_usize).prop_map(Op::Commit),
        2 => (1..40_u32).prop_map(Op::Sweep),
        4 => (0..LASTING).prop_map(Op::Look),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_reader_always_sees_one_whole_table(
        ops in proptest::collection::vec(op(), 1..60),
        interruptions in proptest::collection::vec(proptest::option::weighted(0.4, op()), 0..200),
    ) {
        let mut world = World::new(interruptions);
        for op in ops {
            world.run(op);
        }
        world.interruptions.clear();
        prop_assert_eq!(&world.faults, &Vec::<String>::new());
        let last = *world.in_force.last().unwrap();
        for version in 1..=world.versions {
            let own = look(&mut world.store, OWN + version);
            let expected = if version == last { found(OWN + version, last) } else { Found::Absent };
            prop_assert_eq!(own, expected, "own key of {}", version);
        }
        for (key, times) in world.told {
            prop_assert_eq!(times, 1, "{:?} was told twice", key);
            prop_assert!(world.in_force.contains(&key.1), "{:?} never was in force", key);
        }
    }
}
