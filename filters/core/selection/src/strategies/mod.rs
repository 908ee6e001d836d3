//! In which order the candidates of one group are tried: one file for each strategy, each a pure
//! function of the candidates and the draw.

mod failover;
mod least_connections;
mod least_latency;
mod power_of_two;
mod random;
mod round_robin;
mod sticky;
mod top_k;
mod weighted;

use crate::candidate::Candidate;
use crate::draw::Draw;

/// How the candidates of an endpoint are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// As in the document, the next one only after a failure.
    Failover,
    /// In proportion to the weights, evenly spread over the requests of a thread.
    Weighted,
    /// In proportion to the weights, but the same one for the same caller.
    WeightedByCaller,
    /// Each in turn, over all threads.
    RoundRobin,
    /// Each with the same chance.
    Random,
    /// The one with the fewest requests in flight.
    LeastConnections,
    /// The one that was fastest lately.
    LeastLatency,
    /// The same one for the same caller, on every gateway.
    Sticky,
    /// The better of two that are drawn at random.
    PowerOfTwo,
    /// One of those with the fewest requests in flight, drawn at random.
    LeastRequestTopK(TopK),
}

/// Which candidates [`Strategy::LeastRequestTopK`] draws from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopK {
    /// So many with the fewest requests in flight ...
    pub k: u32,
    /// ... of which each has at most so many more than the one with the fewest.
    pub epsilon: u32,
}

/// Whose requests a turn counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// Those of every thread of the gateway, which costs a compare-and-swap.
    OfAllThreads,
    /// Those of the thread that asks.
    OfOneThread,
}

impl Strategy {
    /// Its name in configurations and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failover => "failover",
            Self::Weighted | Self::WeightedByCaller => "weighted",
            Self::RoundRobin => "round-robin",
            Self::Random => "random",
            Self::LeastConnections => "least-connections",
            Self::LeastLatency => "least-latency",
            Self::Sticky => "sticky",
            Self::PowerOfTwo => "power-of-two",
            Self::LeastRequestTopK(_) => "least-request-top-k",
        }
    }

    /// Whether it goes by [`Draw::turn`], and whose turns those are.
    #[must_use]
    pub const fn turns(self) -> Option<Turns> {
        match self {
            Self::RoundRobin => Some(Turns::OfAllThreads),
            // Each thread keeps to the weights, so all together do.
            Self::Weighted => Some(Turns::OfOneThread),
            _ => None,
        }
    }

    /// Whether it goes by [`Draw::random`].
    #[must_use]
    pub const fn draws(self) -> bool {
        matches!(
            self,
            Self::Random
                | Self::LeastConnections
                | Self::LeastLatency
                | Self::PowerOfTwo
                | Self::LeastRequestTopK(_)
        )
    }

    /// Whether it goes by [`Candidate::in_flight`].
    #[must_use]
    pub const fn counts_requests(self) -> bool {
        matches!(
            self,
            Self::LeastConnections
                | Self::LeastLatency
                | Self::PowerOfTwo
                | Self::LeastRequestTopK(_)
        )
    }

    /// Whether it goes by [`Candidate::latency_ms`].
    #[must_use]
    pub const fn measures(self) -> bool {
        matches!(self, Self::LeastLatency | Self::PowerOfTwo)
    }

    /// Whether a candidate of weight 0 is left out.
    #[must_use]
    pub const fn weighs(self) -> bool {
        matches!(self, Self::Weighted | Self::WeightedByCaller)
    }

    /// At most `most` members of a group in the order in which they are to be tried, each once.
    pub(crate) fn order<'a>(
        self,
        group: Vec<Member<'a>>,
        draw: &Draw,
        most: usize,
    ) -> Vec<Member<'a>> {
        match self {
            Self::Failover => failover::order(group, most),
            Self::Weighted => weighted::order(group, weighted::by_turn(draw), most),
            Self::WeightedByCaller => weighted::order(group, weighted::by_caller(draw), most),
            Self::RoundRobin => round_robin::order(group, draw.turn, most),
            Self::Random => random::order(group, draw.random, most),
            Self::LeastConnections => least_connections::order(group, draw.random, most),
            Self::LeastLatency => least_latency::order(group, draw.random, most),
            Self::Sticky => sticky::order(group, draw.caller, most),
            Self::PowerOfTwo => power_of_two::order(group, draw.random, most),
            Self::LeastRequestTopK(top) => top_k::order(group, top, draw.random, most),
        }
    }
}

/// A candidate and its place in the list that was given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'a> {
    pub index: usize,
    pub candidate: &'a Candidate,
}

/// The `most` smallest by `key`, in their order. The group is gone through from a place on and around, and of
/// equal ones the one that is met first comes first; with `most` of 2, as usual, each member costs about one
/// comparison.
fn smallest<'a, K: PartialOrd>(
    group: &[Member<'a>],
    start: usize,
    most: usize,
    key: impl Fn(&Member<'a>) -> K,
) -> Vec<Member<'a>> {
    let (before, from) = group.split_at(start.min(group.len()));
    let mut best: Vec<(K, Member<'a>)> = Vec::with_capacity(most.min(group.len()) + 1);
    for member in from.iter().chain(before) {
        let key = key(member);
        if best.len() >= most && best.last().is_none_or(|(last, _)| key >= *last) {
            continue;
        }
        let place = best.iter().position(|(other, _)| key < *other);
        best.insert(place.unwrap_or(best.len()), (key, *member));
        best.truncate(most);
    }
    best.into_iter().map(|(_, member)| member).collect()
}

/// A place to start from: what is equal is then not always taken in the order of the document.
fn somewhere(group: &[Member<'_>], random: u64) -> usize {
    crate::draw::Random::new(random).below(group.len())
}
