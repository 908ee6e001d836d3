//! The choice for one request: the ordered list, with the place and the trial that were claimed for its
//! first candidate.

use std::time::Duration;

use dragoman_circuit::Ticket;
use dragoman_contract::RequestRecord;
use dragoman_contract::records::MAX_CANDIDATES;
use dragoman_sdk::host::Clock;
use dragoman_sdk::{HostResult, RequestHeaders};
use dragoman_selection::{Candidate, Draw, Need, Pool, Reason, Turns};
use dragoman_slots::{Swap, swap};

use crate::candidates::need;
use crate::config::{Endpoint, Select};

/// Whom to try.
#[derive(Debug)]
pub(crate) struct Choice {
    /// What is known of all targets.
    pub candidates: Vec<Candidate>,
    pub need: Need,
    /// Places of the targets to try, in their order; none: the request is refused.
    pub order: Vec<usize>,
    /// Places of those that were left out, and why.
    pub removed: Vec<(usize, Reason)>,
    /// The first candidate's circuit waits for this request.
    pub trial: Option<Ticket>,
    /// As whom the first candidate's place was claimed, where it has a cap.
    pub claim: Option<u64>,
}

/// One request that is choosing.
struct Asking<'a> {
    select: &'a Select,
    endpoint: &'a Endpoint,
    need: Need,
    now: Duration,
}

impl Select {
    /// Chooses the workers of a request. A first candidate that turns out to be full counts as full, and
    /// the choice is made again: at most once more than there are targets.
    ///
    /// # Errors
    /// When shared data fails.
    pub(crate) fn choose(
        &self,
        cx: &mut RequestHeaders<'_>,
        record: &RequestRecord<'_>,
        endpoint: &Endpoint,
        now: Duration,
    ) -> HostResult<Choice> {
        let asking = Asking {
            select: self,
            endpoint,
            need: need(record),
            now,
        };
        let draw = asking.draw(cx, record.endpoint)?;
        let mut candidates = self.candidates(cx, endpoint, record.tenant, now)?;
        for _ in 0..=endpoint.targets.len() {
            let choice = asking.once(cx, &mut candidates, &draw)?;
            if let Some(choice) = choice {
                return Ok(choice);
            }
        }
        let removed = (0..candidates.len()).map(|place| (place, Reason::Full));
        Ok(Choice {
            removed: removed.collect(),
            order: Vec::new(),
            trial: None,
            claim: None,
            need: asking.need,
            candidates,
        })
    }
}

impl Asking<'_> {
    /// One choice; `None`: the first candidate is full, which the candidates say now.
    fn once(
        &self,
        cx: &mut RequestHeaders<'_>,
        candidates: &mut Vec<Candidate>,
        draw: &Draw,
    ) -> HostResult<Option<Choice>> {
        let strategy = self.endpoint.strategy;
        let most = usize::from(self.endpoint.max_attempts).min(MAX_CANDIDATES);
        let pool = Pool::new(candidates, &self.need, &self.select.policy, strategy);
        let removed = pool.removed.clone();
        let mut trial = self.trial(cx, &pool)?;
        let mut order = pool.order(strategy, draw, most);
        if let Some((place, _)) = trial {
            order.insert(0, place);
        }
        let mut claim = None;
        if let Some(first) = order.first().copied()
            && let Some(room) = self.room(candidates, first)
        {
            claim = self.claim(cx, candidates, first, room)?;
            if claim.is_none() {
                if let Some((place, ticket)) = trial.take() {
                    self.give_up_trial(cx, place, ticket)?;
                }
                return Ok(None);
            }
            // What was found out of the others: a retry goes to nobody who is full.
            let is_full = |place: &usize| {
                let room = self.room(candidates, *place);
                room.is_some_and(|room| {
                    candidates.get(*place).is_none_or(|it| it.in_flight >= room)
                })
            };
            order.retain(|place| *place == first || !is_full(place));
        }
        order.truncate(most);
        Ok(Some(Choice {
            candidates: std::mem::take(candidates),
            need: self.need,
            order,
            removed,
            trial: trial.map(|(_, ticket)| ticket),
            claim,
        }))
    }

    /// The first worker whose trial this request gets.
    fn trial(
        &self,
        cx: &mut RequestHeaders<'_>,
        pool: &Pool<'_>,
    ) -> HostResult<Option<(usize, Ticket)>> {
        for place in pool.trials() {
            if let Some(ticket) = self.claim_trial(cx, place)? {
                return Ok(Some((place, ticket)));
            }
        }
        Ok(None)
    }

    fn claim_trial(&self, cx: &mut RequestHeaders<'_>, place: usize) -> HostResult<Option<Ticket>> {
        match self.endpoint.targets.get(place) {
            Some(target) => self
                .select
                .claim_trial(cx, self.endpoint, target.worker, self.now),
            None => Ok(None),
        }
    }

    fn give_up_trial(
        &self,
        cx: &mut RequestHeaders<'_>,
        place: usize,
        ticket: Ticket,
    ) -> HostResult<()> {
        match self.endpoint.targets.get(place) {
            Some(target) => self
                .select
                .give_up_trial(cx, target.worker, ticket, self.now),
            None => Ok(()),
        }
    }

    /// How many requests this one's class may have at a target, if there is a cap.
    fn room(&self, candidates: &[Candidate], place: usize) -> Option<u32> {
        let percent = self.select.policy.background_percent;
        candidates.get(place)?.room(self.need.class, percent)
    }

    /// Claims a place at a target, and notes what is in flight at all of them.
    fn claim(
        &self,
        cx: &mut RequestHeaders<'_>,
        candidates: &mut [Candidate],
        first: usize,
        room: u32,
    ) -> HostResult<Option<u64>> {
        let targets = &self.endpoint.targets;
        let index = targets.get(first).map(|target| target.worker);
        let worker = index.and_then(|index| Some((index, self.select.workers.get(index)?)));
        let Some(worker) = worker else {
            return Ok(None);
        };
        let claim = self.select.load.claim(cx, worker, room, self.now)?;
        for (candidate, target) in candidates.iter_mut().zip(targets) {
            candidate.in_flight = claim.in_flight.get(target.worker).copied().unwrap_or(0);
        }
        if claim.claimant.is_none()
            && let Some(candidate) = candidates.get_mut(first)
        {
            candidate.in_flight = candidate.in_flight.max(room);
        }
        Ok(claim.claimant)
    }

    /// What the strategy goes by, as far as it goes by it.
    fn draw(&self, cx: &mut RequestHeaders<'_>, endpoint: &str) -> HostResult<Draw> {
        let strategy = self.endpoint.strategy;
        Ok(Draw {
            random: if strategy.draws() { cx.random() } else { 0 },
            turn: match strategy.turns() {
                Some(Turns::OfAllThreads) => next_turn(cx, endpoint)?,
                Some(Turns::OfOneThread) => {
                    let turn = self.endpoint.turn.get().unwrap_or_else(|| any_turn(cx));
                    self.endpoint.turn.set(Some(turn.wrapping_add(1)));
                    turn
                }
                None => 0,
            },
            caller: self.need.caller,
        })
    }
}

/// Takes the next turn of an endpoint, shared by all threads. Names come from the configuration,
/// so there are as many keys as endpoints there ever were, not as clients please.
///
/// Where every race for it is lost, the turn is drawn at random, which is as even in the long run.
fn next_turn(cx: &mut RequestHeaders<'_>, endpoint: &str) -> HostResult<u32> {
    let key = format!("dragoman/1/turn/{endpoint}");
    let taken = swap(cx, &key, |bytes| {
        let turn = bytes.try_into().map(u32::from_le_bytes).unwrap_or_default();
        Swap::Write(turn.wrapping_add(1).to_le_bytes().to_vec(), turn)
    })?;
    Ok(taken.unwrap_or_else(|| any_turn(cx)))
}

fn any_turn(cx: &mut RequestHeaders<'_>) -> u32 {
    (cx.random() & u64::from(u32::MAX)) as u32
}
