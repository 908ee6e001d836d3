//! How one thing after the other happens, and what happens at the same moment.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use host_sim_host::Worker as Thread;
use host_sim_host::io::{Command, Event, Now};

use crate::onlook::Onlooker;

use super::{Client, HAPPENINGS_LIMIT, Item, World};

/// All threads tick at the same moments, for as long as a run lasts, and few ticks have anything to race for. So of the rounds
/// that are timers alone, one in so many overlaps; in the others one thread comes after the other.
const TIMER_ROUNDS_PER_OVERLAP: usize = 4;

/// Most things of one moment that are looked through for one of a certain thread; beyond that it has nothing to do in a round.
const SEARCHED_LIMIT: usize = 64;

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
        match self.choose(due) {
            Next::Timers(thread) => self.add_timers(thread, &mut round),
            Next::Item => {
                if let Some(item) = self.agenda.take() {
                    self.take_item(item, &mut round);
                }
            }
        }
        if self.overlaps && !round.is_empty() {
            self.fill(due, &mut round);
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

    /// What comes first of what is due now.
    fn choose(&mut self, due: Duration) -> Next {
        let mut choices = self.threads_with_timers(due);
        if self.agenda.next() == Some(due) {
            choices.push(Next::Item);
        }
        let choice = self.random.below(choices.len());
        choices.into_iter().nth(choice).unwrap_or(Next::Item)
    }

    fn threads_with_timers(&self, due: Duration) -> Vec<Next> {
        let threads = self.threads.iter().enumerate();
        threads
            .filter(|(_, thread)| thread.next_timer() == Some(due))
            .map(|(index, _)| Next::Timers(index))
            .collect()
    }

    /// Gives each thread that has nothing to do in this round what is due for it at the same moment.
    fn fill(&mut self, due: Duration, round: &mut BTreeMap<usize, Work>) {
        for thread in 0..self.threads.len() {
            if round.contains_key(&thread) {
                continue;
            }
            let clients = &self.clients;
            let is_its = |item: &Item| thread_of(clients, item) == Some(thread);
            let concerns_all = |item: &Item| thread_of(clients, item).is_none();
            match self
                .agenda
                .take_due(due, is_its, concerns_all, SEARCHED_LIMIT)
            {
                Some(item) => self.take_item(item, round),
                None if self.threads[thread].next_timer() == Some(due) => {
                    self.add_timers(thread, round);
                }
                None => {}
            }
        }
    }

    fn add_timers(&mut self, thread: usize, round: &mut BTreeMap<usize, Work>) {
        self.trace.add(self.now, thread, "timers");
        self.show(|onlooker, now| onlooker.timers(now, thread));
        round.insert(thread, Work::Timers);
    }

    fn take_item(&mut self, item: Item, round: &mut BTreeMap<usize, Work>) {
        match (thread_of(&self.clients, &item), item) {
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
        self.trace.add_event(self.now, thread, event);
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
                self.trace.add_command(self.now, *thread, &command);
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

/// The worker thread that a thing concerns; none if it concerns a worker behind the gateway or the wall clock.
fn thread_of(clients: &[Client], item: &Item) -> Option<usize> {
    match item {
        Item::Send(id) | Item::Piece(id, _) | Item::Leave(id) => {
            clients.get(id.0).map(|client| client.thread)
        }
        Item::Connect((thread, _), _)
        | Item::Play((thread, _))
        | Item::Wake(thread)
        | Item::Resolved(thread, ..) => Some(*thread),
        Item::Change(..) | Item::SetWall(_) | Item::Update(_) => None,
    }
}

/// What may happen next.
enum Next {
    /// The timers of a thread.
    Timers(usize),
    /// The first thing of the agenda.
    Item,
}
