//! From all targets of an endpoint to the ordered list of attempts.

use dragoman_circuit::Admission;
use dragoman_contract::Class;

use crate::candidate::Candidate;
use crate::draw::{Draw, mix, scale};
use crate::filters;
use crate::need::{Need, Policy};
use crate::reason::Reason;
use crate::strategies::{Member, Strategy};

/// Who may be tried, in groups, and who may not.
#[derive(Debug)]
pub struct Pool<'a> {
    /// Groups in the order in which they are tried; in the order of the document within.
    groups: [Vec<Member<'a>>; GROUPS],
    /// Places of the targets that were left out, and why; in the order of the document.
    pub removed: Vec<(usize, Reason)>,
    /// Some of those that may be tried wait for a trial.
    waiting: bool,
}

/// The caller's version and then the other, each warm and then cold.
const GROUPS: usize = 4;

impl<'a> Pool<'a> {
    /// Sorts the candidates out.
    #[must_use]
    pub fn new(
        candidates: &'a [Candidate],
        need: &Need,
        policy: &Policy,
        strategy: Strategy,
    ) -> Self {
        let mut pool = Self {
            groups: Default::default(),
            removed: Vec::new(),
            waiting: false,
        };
        let in_slice = is_canary(need.caller, policy.canary_percent);
        let objection =
            |candidate: &Candidate| objection(candidate, need, policy, strategy, in_slice);
        // A warm worker that is at its cap still is one that background work can wait for.
        let is_warm = |candidate: &Candidate| {
            candidate.warm && matches!(objection(candidate), None | Some(Reason::Full))
        };
        let spared = need.class == Class::Background
            && filters::is_spared_the_cold(need, candidates.iter().any(is_warm));
        for (index, candidate) in candidates.iter().enumerate() {
            let why = objection(candidate)
                .or_else(|| (spared && !candidate.warm).then_some(Reason::Cold));
            if let Some(why) = why {
                pool.removed.push((index, why));
                continue;
            }
            pool.waiting |= is_trial(candidate);
            let place =
                usize::from(candidate.canary != in_slice) * 2 + usize::from(!candidate.warm);
            if let Some(group) = pool.groups.get_mut(place) {
                group.push(Member { index, candidate });
            }
        }
        pool
    }

    /// Nobody may be tried.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.iter().all(Vec::is_empty)
    }

    /// How many may be tried, trials included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }

    /// Places of the workers whose circuit waits for one request to try them, of the first group
    /// that has anybody: nobody gets another version, and background work no cold worker, for the
    /// sake of a trial.
    #[must_use]
    pub fn trials(&self) -> Vec<usize> {
        if !self.waiting {
            return Vec::new();
        }
        let first = self.groups.iter().find(|group| !group.is_empty());
        let members = first.into_iter().flatten();
        let waiting = members.filter(|member| is_trial(member.candidate));
        waiting.map(|member| member.index).collect()
    }

    /// Places of at most `most` candidates, in the order in which they are to be tried. Workers that
    /// wait for a trial are not among them.
    #[must_use]
    pub fn order(mut self, strategy: Strategy, draw: &Draw, most: usize) -> Vec<usize> {
        let mut out = Vec::with_capacity(most);
        for group in &mut self.groups {
            if self.waiting {
                group.retain(|member| !is_trial(member.candidate));
            }
            let left = most.saturating_sub(out.len());
            if left == 0 {
                break;
            }
            let order = strategy.order(std::mem::take(group), draw, left);
            out.extend(order.into_iter().map(|member| member.index));
        }
        out
    }
}

fn is_trial(candidate: &Candidate) -> bool {
    matches!(candidate.admission, Admission::Trial { .. })
}

fn objection(
    candidate: &Candidate,
    need: &Need,
    policy: &Policy,
    strategy: Strategy,
    in_slice: bool,
) -> Option<Reason> {
    // A caller of the stable version never gets the next one; one of the slice falls back.
    if candidate.canary && !in_slice {
        return Some(Reason::Version);
    }
    if strategy.weighs() && candidate.weight == 0 {
        return Some(Reason::Weight);
    }
    filters::objection(candidate, need, policy)
}

/// Whether a caller belongs to the canary slice. The hash is mixed once more than in any strategy, so
/// that the slice is not one worker's callers.
fn is_canary(caller: u64, percent: u32) -> bool {
    scale(mix(mix(caller).wrapping_add(1)), 100) < u64::from(percent)
}
