#![doc = include_str!("../README.md")]

mod failover;
mod round_robin;
mod weighted;

use dragoman_contract::Mode;

/// What makes one request's order differ from the next one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// A random number; only [`Mode::Weighted`] uses it.
    pub random: u64,
    /// How many requests came before, counted over all threads and with wrap-around; only
    /// [`Mode::RoundRobin`] uses it.
    pub turn: u32,
}

/// The order in which the targets of an endpoint are to be tried: indices into `weights`, each
/// at most once, at most `most` of them.
///
/// `weights` has one entry for each target, in the order of the document. Only
/// [`Mode::Weighted`] looks at their values; the other modes use every target.
#[must_use]
pub fn order(mode: Mode, weights: &[u32], ticket: Ticket, most: usize) -> Vec<usize> {
    match mode {
        Mode::Failover => failover::order(weights.len(), most),
        Mode::Weighted => weighted::order(weights, ticket.random, most),
        Mode::RoundRobin => round_robin::order(weights.len(), ticket.turn, most),
    }
}
