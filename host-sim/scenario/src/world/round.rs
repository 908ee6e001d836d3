//! How one thing after the other happens, and what happens at the same moment.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use host_sim_host::Worker as Thread;
use host_sim_host::io::{Command, Event, Now};

use crate::onlook::Onlooker;

use super::{HAPPENINGS_LIMIT, Item, World};

/// All threads tick at the same moments, for as long as a run lasts, and few ticks have anything to race for. So of the rounds
/// that are timers alone, one in so many overlaps; in the others one thread comes after the other.
const TIMER_ROUNDS_PER_OVERLAP: usize = 4;

/// What one worker thread has to do in a round.
#[derive(Debug)]
enum Work {
    /// Its timers that are due.
    Timers,
    /// Something came in.
    Event(Event),
}

impl Work {
    fn run(self, thread: &mut Thread, now: Now) {
        match self {
            Work::Timers => thread.advance(now),
            Work::Event(event) => thread.handle(now, event),
        }
    }
}

impl World {
    /// One round happens, if anything is due by `deadline`: what is next for one worker thread, and what is due at the same
    /// moment for others.
    pub(crate) fn step(&mut self, deadline: Duration) -> bool {
        self.happenings += 1;
        assert!(
            self.happenings < HAPPENINGS_LIMIT,
            "it never ends:\n{}",
            self.trace()
        );
        let Some(due) = self.next_due().filter(|due| *due <= deadline) else {
            return false;
        };
        self.now = self.now.max(due);
        let mut round = BTreeMap::new();
        while let Some(thread) = self.choose(due, &round) {
            match thread {
                Next::Timers(thread) => {
                    self.trace.add(self.now, thread, &"timers");
                    self.show(|onlooker, now| onlooker.timers(now, thread));
                    round.insert(thread, Work::Timers);
                }
                Next::Item => self.take_item(&mut round),
            }
            if !self.overlaps {
                break;
            }
        }
        let is_timers = |work: &Work| matches!(work, Work::Timers);
        if round.len() > 1
            && round.values().all(is_timers)
            && self.random.below(TIMER_ROUNDS_PER_OVERLAP) != 0
        {
            self.play_in_turn(round);
        } else {
            self.play_round(round);
        }
        true
    }

    fn next_due(&self) -> Option<Duration> {
        let timers = self.threads.iter().filter_map(Thread::next_timer);
        timers.chain(self.agenda.next()).min()
    }

    /// Something that is due now, of a thread that has nothing to do in this round yet.
    fn choose(&mut self, due: Duration, round: &BTreeMap<usize, Work>) -> Option<Next> {
        let is_free = |thread: &usize| !round.contains_key(thread);
        let timers = self.threads.iter().enumerate();
        let mut choices: Vec<Next> = timers
            .filter(|(_, thread)| thread.next_timer() == Some(due))
            .map(|(index, _)| index)
            .filter(is_free)
            .map(Next::Timers)
            .collect();
        let item = self.agenda.peek().filter(|(at, _)| *at == due);
        if let Some((_, item)) = item
            && self
                .thread_of(item)
                .map_or(round.is_empty(), |thread| is_free(&thread))
        {
            choices.push(Next::Item);
        }
        let choice = self.random.below(choices.len());
        choices.into_iter().nth(choice)
    }

    /// The worker thread that a thing concerns; none if it concerns a worker behind the gateway or the wall clock.
    fn thread_of(&self, item: &Item) -> Option<usize> {
        match item {
            Item::Send(id) | Item::Piece(id, _) | Item::Leave(id) => {
                self.clients.get(id.0).map(|client| client.thread)
            }
            Item::Connect((thread, _), _) | Item::Play((thread, _)) | Item::Wake(thread) => {
                Some(*thread)
            }
            Item::Change(..) | Item::SetWall(_) | Item::Update(_) => None,
        }
    }

    fn take_item(&mut self, round: &mut BTreeMap<usize, Work>) {
        let Some(item) = self.agenda.take() else {
            return;
        };
        match (self.thread_of(&item), item) {
            (_, Item::Change(site, change)) => self.apply(site, change),
            (_, Item::Update(gateway_json)) => {
                let result = self.update(&gateway_json);
                self.updates.push(result.map_err(|error| error.to_string()));
            }
            (_, Item::SetWall(since_1970)) => self.set_wall(since_1970),
            (Some(thread), item) => {
                if let Some(event) = self.event_of(item) {
                    self.note(thread, &event);
                    round.insert(thread, Work::Event(event));
                }
            }
            (None, _) => {}
        }
    }

    /// An event for one worker thread alone.
    pub(super) fn tell(&mut self, thread: usize, event: Event) {
        self.note(thread, &event);
        self.play_round(BTreeMap::from([(thread, Work::Event(event))]));
    }

    fn note(&mut self, thread: usize, event: &Event) {
        self.trace.add(self.now, thread, event);
        self.show(|onlooker, now| onlooker.event(now, thread, event));
    }

    /// One thread after the other, in an order of the seed.
    fn play_in_turn(&mut self, round: BTreeMap<usize, Work>) {
        let mut works: Vec<(usize, Work)> = round.into_iter().collect();
        while !works.is_empty() {
            let next = self.random.below(works.len());
            self.play_round(BTreeMap::from([works.swap_remove(next)]));
        }
    }

    /// Everything of a round, and what the threads want in return.
    fn play_round(&mut self, mut round: BTreeMap<usize, Work>) {
        let now = self.time();
        let threads: Vec<usize> = round.keys().copied().collect();
        if threads.len() > 1 {
            let jobs = self.threads.iter_mut().enumerate();
            let jobs = jobs.filter_map(|(index, thread)| {
                let work = round.remove(&index)?;
                Some((index, move || work.run(thread, now)))
            });
            let passed = self.turns.overlap(self.random.next(), jobs.collect());
            self.trace.add_overlap(self.now, &threads, passed);
        } else {
            for (index, work) in round {
                work.run(&mut self.threads[index], now);
            }
        }
        self.carry_out(&threads);
    }

    /// Carries out the commands of these threads: those of one in their order, of several as the seed mixes them.
    pub(super) fn carry_out(&mut self, threads: &[usize]) {
        let mut queues: Vec<(usize, VecDeque<Command>)> = threads
            .iter()
            .map(|thread| (*thread, self.threads[*thread].take_commands().into()))
            .collect();
        loop {
            queues.retain(|(_, commands)| !commands.is_empty());
            let choice = match queues.len() {
                0 => return,
                1 => 0,
                several => self.random.below(several),
            };
            let (thread, commands) = &mut queues[choice];
            if let Some(command) = commands.pop_front() {
                self.trace.add(self.now, *thread, &command);
                let thread = *thread;
                self.show(|onlooker, now| onlooker.command(now, thread, &command));
                self.obey(thread, command);
            }
        }
    }

    fn show(&self, mut what: impl FnMut(&dyn Onlooker, Duration)) {
        for onlooker in &self.setup.onlookers {
            what(&**onlooker, self.now);
        }
    }

    fn time(&self) -> Now {
        Now {
            monotonic: self.now,
            wall: self.wall + self.now,
        }
    }
}

/// What may happen next.
enum Next {
    /// The timers of a thread.
    Timers(usize),
    /// The first thing of the agenda.
    Item,
}
