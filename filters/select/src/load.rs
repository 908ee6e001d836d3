//! What is in flight at the workers, over all threads, and the places that are promised to requests.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use dragoman_contract::load::{Claims, MAX_SEATS, Seat};
use dragoman_sdk::HostResult;
use dragoman_sdk::host::{Cas, Clock, Shared};

use crate::config::Worker;

/// Most tries at a claim that other threads are faster with; after that the worker counts as full.
/// A round of such a race has a winner, and no more threads than this look at one worker at a time.
const MAX_TRIES: usize = 16;

/// Whose requests are counted, and as whom this VM claims places.
#[derive(Debug)]
pub(crate) struct Load {
    /// Worker hash → index.
    indices: BTreeMap<u64, usize>,
    /// Random, drawn with the first claim; 0 until then.
    claimant: Cell<u64>,
}

/// What came of asking for a place.
#[derive(Debug)]
pub(crate) struct Claim {
    /// As whom it was claimed; `None`: there is none left.
    pub claimant: Option<u64>,
    /// Requests in flight by index of the worker, with the claims of others at the one asked for.
    pub in_flight: Vec<u32>,
}

impl Load {
    pub(crate) fn new(hashes: impl Iterator<Item = u64>) -> Self {
        Self {
            indices: hashes.zip(0..).collect(),
            claimant: Cell::new(0),
        }
    }

    /// Requests in flight by index of the worker: the sum over the seats of all threads.
    ///
    /// # Errors
    /// When shared data fails.
    pub(crate) fn in_flight(&self, cx: &mut impl Shared, now: Duration) -> HostResult<Vec<u32>> {
        let mut sums = vec![0_u32; self.indices.len()];
        seats(cx, now, |seat| {
            for (worker, requests) in &seat.in_flight {
                let index = self.indices.get(worker);
                if let Some(sum) = index.and_then(|index| sums.get_mut(*index)) {
                    *sum = sum.saturating_add(*requests);
                }
            }
        })?;
        Ok(sums)
    }

    /// Claims a place at a worker that may have so many requests, and finds out what is in flight at
    /// all of them.
    ///
    /// The claims are read before the seats and swapped after: an attempt that meanwhile moved from
    /// a claim to a seat has changed the claims, so it is never missed.
    ///
    /// # Errors
    /// When shared data fails.
    pub(crate) fn claim(
        &self,
        cx: &mut (impl Shared + Clock),
        (index, worker): (usize, &Worker),
        room: u32,
        now: Duration,
    ) -> HostResult<Claim> {
        let claimant = self.claimant(cx);
        let key = Claims::key(&worker.id);
        let mut in_flight = Vec::new();
        for _ in 0..MAX_TRIES {
            let (bytes, cas) = cx.shared(&key)?.unwrap_or((Vec::new(), Cas::ABSENT));
            let claims = Claims::decode(&bytes);
            in_flight = self.in_flight(cx, now)?;
            let here = in_flight.get_mut(index);
            let taken = here.map_or(0, |requests| {
                *requests = requests.saturating_add(claims.of_others(claimant, now));
                *requests
            });
            let claims = claims.with(claimant, now).filter(|_| taken < room);
            let Some(claims) = claims else {
                break;
            };
            if cx.swap_shared(&key, &claims.encode(), cas)? {
                return Ok(Claim {
                    claimant: Some(claimant),
                    in_flight,
                });
            }
        }
        Ok(Claim {
            claimant: None,
            in_flight,
        })
    }

    fn claimant(&self, cx: &mut impl Clock) -> u64 {
        if self.claimant.get() == 0 {
            self.claimant.set(cx.random().max(1));
        }
        self.claimant.get()
    }
}

/// Shows every seat whose owner lives.
fn seats(cx: &mut impl Shared, now: Duration, mut each: impl FnMut(&Seat)) -> HostResult<()> {
    for number in 0..MAX_SEATS {
        let Some((bytes, _)) = cx.shared(&Seat::key(number))? else {
            break;
        };
        if let Some(seat) = Seat::decode(&bytes).filter(|seat| !seat.is_stale(now)) {
            each(&seat);
        }
    }
    Ok(())
}
