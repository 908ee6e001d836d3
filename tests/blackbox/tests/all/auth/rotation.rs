//! The keys of an application are rotated while its clients go on asking.
//!
//! `scripts/drill rotation` does the same for a minute, with more load and by the clock. Here nothing depends on
//! time: a step is taken when the gateway was seen to have taken the one before.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use blackbox::tally::{Tally, marked};
use blackbox::{Engine, World, both_engines};
use control_plane::ControlPlane;
use serde_json::json;

use super::key_store::{settle, start};
use super::{KEY_B, bearer};

both_engines![clients_that_move_to_the_next_key_never_fail_and_those_that_do_not_are_refused];

/// Generations of the key; all but the first are rotated to.
const GENERATIONS: u32 = 3;
/// Clients that move to the next key when they are told to.
const MOVERS: usize = 4;
/// Clients that keep the old key.
const HOLDOUTS: usize = 2;
/// Clients wait while the worker got so many more requests than were counted: it remembers a thousand.
const MAX_UNCOUNTED: usize = 500;
/// Refusals that are waited for before the next rotation.
const REFUSALS: usize = 40;
/// Between two looks at what others do.
const PAUSE: Duration = Duration::from_millis(5);
/// Longest wait for clients that only have to go on.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a client was told.
#[derive(Clone, Debug)]
struct Answer {
    mark: String,
    status: u16,
    expected: Expected,
}

/// What a client has to be told, by when it asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// The key was still good when the answer was there.
    Accepted,
    /// The key was gone on every thread before the question.
    Refused,
    /// It was being taken back.
    Either,
}

/// What the clients do, and what came of it.
struct Load<'w> {
    world: &'w World,
    /// Generation that movers show.
    current: AtomicU32,
    /// Generation that holdouts show.
    old: AtomicU32,
    /// Latest generation that the control plane took back.
    revoked: AtomicU32,
    /// Latest generation that is gone on every thread.
    gone: AtomicU32,
    /// Generation of the latest answer of each mover.
    moved: [AtomicU32; MOVERS],
    answers: Mutex<Vec<Answer>>,
    /// Requests that were served, and those of them that were counted at the worker.
    served: AtomicUsize,
    counted: AtomicUsize,
    stopping: AtomicBool,
}

/// Stops the clients also when the test fails.
struct Stop<'l>(&'l AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

fn key(generation: u32) -> String {
    format!("sk-rotated-{generation}-6b1f09")
}

impl<'w> Load<'w> {
    fn on(world: &'w World) -> Self {
        Self {
            world,
            current: AtomicU32::new(1),
            old: AtomicU32::new(1),
            revoked: AtomicU32::new(0),
            gone: AtomicU32::new(0),
            moved: Default::default(),
            answers: Mutex::default(),
            served: AtomicUsize::new(0),
            counted: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
        }
    }

    /// A request by a connection of its own, so that all threads get some.
    fn ask(&self, who: &str, generation: u32, key: &str) {
        let mark = format!("{who} {generation}");
        let gone = self.gone.load(SeqCst) >= generation;
        let body = marked(&mark);
        let lines = [&*bearer(key)];
        let response = self
            .world
            .request("POST", "/v1/chat/completions", &lines, body.as_bytes());
        let expected = if gone {
            Expected::Refused
        } else if self.revoked.load(SeqCst) < generation {
            Expected::Accepted
        } else {
            Expected::Either
        };
        self.served
            .fetch_add(usize::from(response.status == 200), SeqCst);
        self.answers.lock().unwrap().push(Answer {
            mark,
            status: response.status,
            expected,
        });
    }

    fn mover(&self, number: usize) {
        let generation = self.current.load(SeqCst);
        self.ask("movers", generation, &key(generation));
        self.moved[number].store(generation, SeqCst);
    }

    fn holdout(&self) {
        let generation = self.old.load(SeqCst);
        self.ask("holdouts", generation, &key(generation));
    }

    fn go_on(&self, act: impl Fn()) {
        while !self.stopping.load(SeqCst) {
            let uncounted = self
                .served
                .load(SeqCst)
                .saturating_sub(self.counted.load(SeqCst));
            if uncounted < MAX_UNCOUNTED {
                act();
            } else {
                thread::sleep(PAUSE);
            }
        }
    }

    fn begin<'s>(&'s self, scope: &'s Scope<'s, '_>) -> Stop<'s> {
        for number in 0..MOVERS {
            scope.spawn(move || self.go_on(|| self.mover(number)));
        }
        for _ in 0..HOLDOUTS {
            scope.spawn(|| self.go_on(|| self.holdout()));
        }
        // The key of the document has nothing to do with the table.
        scope.spawn(|| self.go_on(|| self.ask("steady", u32::MAX, KEY_B)));
        Stop(&self.stopping)
    }

    fn wait(&self, what: &str, is_so: impl Fn() -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is_so() {
            assert!(Instant::now() < until, "{what}: it never came to that");
            thread::sleep(PAUSE);
        }
    }

    fn count(&self, wanted: impl Fn(&Answer) -> bool) -> usize {
        self.answers
            .lock()
            .unwrap()
            .iter()
            .filter(|answer| wanted(answer))
            .count()
    }

    /// From one generation to the next.
    fn rotate(&self, control: &ControlPlane, new: u32) {
        let old = new - 1;
        self.old.store(old, SeqCst);
        put(control, new);
        settle(control);
        self.current.store(new, SeqCst);
        self.wait("all movers have the new key", || {
            self.moved.iter().all(|moved| moved.load(SeqCst) == new)
        });
        self.revoked.store(old, SeqCst);
        let id = format!("app-{old}");
        assert!(control.edit(|table| if old % 2 == 1 {
            table.revoke(&id)
        } else {
            table.remove(&id)
        }));
        settle(control);
        self.gone.store(old, SeqCst);
        let mark = format!("holdouts {old}");
        self.wait("holdouts ask with a key that is gone", || {
            self.count(|answer| answer.mark == mark && answer.expected == Expected::Refused)
                >= REFUSALS
        });
    }
}

fn put(control: &ControlPlane, generation: u32) {
    let fields = json!({"generation": generation});
    control.put(
        &format!("app-{generation}"),
        &key(generation),
        "team-a",
        fields,
    );
}

fn clients_that_move_to_the_next_key_never_fail_and_those_that_do_not_are_refused(engine: Engine) {
    let control = ControlPlane::start_free();
    put(&control, 1);
    let world = start(engine, &control);
    let load = Load::on(&world);

    let mut tally = Tally::default();
    thread::scope(|scope| {
        let stop = load.begin(scope);
        let rotating = scope.spawn(|| {
            let _stop = stop;
            for new in 2..=GENERATIONS {
                load.rotate(&control, new);
            }
        });
        while !rotating.is_finished() {
            let taken = tally.take(world.worker("w1")).len();
            load.counted.fetch_add(taken, SeqCst);
            thread::sleep(PAUSE);
        }
    });
    tally.take(world.worker("w1"));

    let answers = load.answers.into_inner().unwrap();
    for answer in &answers {
        let is_right = match answer.expected {
            Expected::Accepted => answer.status == 200,
            Expected::Refused => answer.status == 401,
            Expected::Either => {
                answer.mark.starts_with("holdouts") && matches!(answer.status, 200 | 401)
            }
        };
        assert!(is_right, "{answer:?}");
    }
    // Who was let in reached the worker, and nobody else did.
    let mut accepted = Tally::default();
    for answer in answers.iter().filter(|answer| answer.status == 200) {
        *accepted.0.entry(answer.mark.clone()).or_default() += 1;
    }
    assert_eq!(tally, accepted);
    for old in 1..GENERATIONS {
        assert!(
            accepted.0.contains_key(&format!("holdouts {old}")),
            "{old} was good before"
        );
    }
}
