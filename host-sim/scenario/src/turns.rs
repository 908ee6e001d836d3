//! Guests of several worker threads inside their calls at the same moment.
//!
//! Each runs on a thread of the machine, and exactly one of them at a time: the one whose turn it is. At every host call the
//! seed decides who goes on. So everything that two threads of Envoy can see of each other (shared data, metrics, circuit
//! breakers) comes in an order that the seed alone decides, and a run can be repeated.
//!
//! This file is the one place of the simulator outside of the server that starts threads: a guest in a host call has a
//! stack of the machine, and to leave it there while another guest runs takes a second stack. Nothing here is
//! timed, and no thread outlives [`Turns::overlap`].

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use host_sim_host::abi::watch::{Asked, Watcher, Whose};

use crate::random::Random;

/// Of how many host calls one passes the turn on, on average; drawn for each overlap. Rare turns let one guest finish a
/// whole callback inside a single host call of another, frequent ones mix them finely.
const CALLS_PER_TURN: [u64; 4] = [1, 1, 2, 8];

/// Who may run, and who waits. One for all worker threads of a world.
#[derive(Debug)]
pub struct Turns {
    state: Mutex<State>,
    /// One for each worker thread.
    called: Vec<Condvar>,
    /// Whether more than one worker thread is inside an event; saves the look at the state.
    overlapping: AtomicBool,
}

#[derive(Debug)]
struct State {
    random: Random,
    calls_per_turn: u64,
    /// Worker threads whose event is not over.
    inside: Vec<usize>,
    /// Whose turn it is.
    turn: usize,
    /// How often the turn went to another thread.
    passed: u64,
}

impl Turns {
    /// For this many worker threads.
    pub fn new(threads: usize) -> Self {
        Turns {
            state: Mutex::new(State {
                random: Random::new(0),
                calls_per_turn: 1,
                inside: Vec::new(),
                turn: 0,
                passed: 0,
            }),
            called: (0..threads).map(|_| Condvar::new()).collect(),
            overlapping: AtomicBool::new(false),
        }
    }

    /// Runs each job for its worker thread, all at the same moment. How often the turn passed to another is given back.
    pub fn overlap<Job: FnOnce() + Send>(&self, seed: u64, jobs: Vec<(usize, Job)>) -> u64 {
        let threads = jobs.iter().map(|(thread, _)| *thread).collect();
        self.begin(seed, threads);
        let run = move |(thread, job): (usize, Job)| {
            let _turn = self.enter(thread);
            job();
        };
        let mut jobs = jobs.into_iter();
        // One job takes the stack that is there.
        let first = jobs.next();
        std::thread::scope(|scope| {
            for job in jobs {
                scope.spawn(move || run(job));
            }
            first.into_iter().for_each(run);
        });
        self.overlapping.store(false, Ordering::Relaxed);
        self.state().passed
    }

    /// A guest of this worker thread is in a host call that was not carried out yet: others may go first.
    fn host_call(&self, thread: usize) {
        if !self.overlapping.load(Ordering::Relaxed) {
            return;
        }
        let mut state = self.state();
        let calls_per_turn = state.calls_per_turn;
        if state.inside.len() < 2 || !state.random.next().is_multiple_of(calls_per_turn) {
            return;
        }
        self.pass_on(&mut state);
        drop(self.wait(state, thread));
    }

    fn begin(&self, seed: u64, threads: Vec<usize>) {
        let mut state = self.state();
        state.random = Random::new(seed);
        let draw = state.random.below(CALLS_PER_TURN.len());
        state.calls_per_turn = CALLS_PER_TURN[draw];
        state.inside = threads;
        state.passed = 0;
        self.pass_on(&mut state);
        self.overlapping.store(true, Ordering::Relaxed);
    }

    fn enter(&self, thread: usize) -> Turn<'_> {
        drop(self.wait(self.state(), thread));
        Turn {
            turns: self,
            thread,
        }
    }

    /// Somebody goes on, perhaps the same.
    fn pass_on(&self, state: &mut State) {
        if state.inside.is_empty() {
            return;
        }
        let next = state.random.below(state.inside.len());
        let next = state.inside[next];
        if next != state.turn {
            state.passed += 1;
        }
        state.turn = next;
        self.called[next].notify_one();
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, thread: usize) -> MutexGuard<'a, State> {
        self.called[thread]
            .wait_while(state, |state| state.turn != thread)
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watcher for Turns {
    fn asks(&self, whose: &Whose, _asked: &Asked<'_>) {
        self.host_call(whose.thread);
    }
}

/// An event under way. Its end, by a panic too, passes the turn on.
struct Turn<'a> {
    turns: &'a Turns,
    thread: usize,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.turns.state();
        state.inside.retain(|thread| *thread != self.thread);
        self.turns.pass_on(&mut state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of these threads writes its number before each of `calls` host calls.
    fn order(seed: u64, threads: usize, calls: usize) -> Vec<usize> {
        let (turns, written) = (Turns::new(threads), Mutex::new(Vec::new()));
        let job = |thread: usize| {
            let (turns, written) = (&turns, &written);
            move || {
                for _ in 0..calls {
                    turns.host_call(thread);
                    written.lock().unwrap().push(thread);
                }
            }
        };
        turns.overlap(
            seed,
            (0..threads).map(|thread| (thread, job(thread))).collect(),
        );
        written.into_inner().unwrap()
    }

    #[test]
    fn the_seed_alone_decides_who_goes_on_at_each_host_call() {
        for seed in 0..50 {
            assert_eq!(order(seed, 3, 20), order(seed, 3, 20), "seed {seed}");
        }
        let orders: std::collections::BTreeSet<_> = (0..50).map(|seed| order(seed, 2, 6)).collect();
        assert!(orders.len() > 20, "{} orders of 50 seeds", orders.len());
    }

    #[test]
    fn everybody_makes_all_calls_whoever_ends_first() {
        for seed in 0..20 {
            let order = order(seed, 4, 7);
            for thread in 0..4 {
                let calls = order.iter().filter(|other| **other == thread).count();
                assert_eq!(calls, 7, "seed {seed}, thread {thread}");
            }
        }
    }

    #[test]
    fn a_job_that_panics_holds_up_nobody() {
        let (turns, ended) = (Turns::new(2), AtomicBool::new(false));
        let job = |thread: usize| {
            let (turns, ended) = (&turns, &ended);
            move || {
                turns.host_call(thread);
                assert!(thread != 0, "on purpose");
                turns.host_call(thread);
                ended.store(true, Ordering::Relaxed);
            }
        };
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            turns.overlap(1, vec![(0, job(0)), (1, job(1))])
        }));
        assert!(outcome.is_err() && ended.load(Ordering::Relaxed));
    }
}
