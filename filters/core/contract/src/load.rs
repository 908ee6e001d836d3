//! Requests in flight per worker: `attempt` → `select`, by way of shared data; and places that are
//! promised to requests on their way.
//!
//! Every VM of `attempt` has a **seat** of its own, so that nobody has to compare and swap; the sum
//! over the seats is the load. A seat whose owner shows no sign of life counts as empty, so what a
//! trapped VM had in flight is forgotten.

use std::time::Duration;

use crate::wire::{Reader, Writer};

/// Most seats: one per worker thread of Envoy, and as many again while a new configuration replaces
/// an old one. Readers stop at the first seat that was never taken.
pub const MAX_SEATS: u16 = 128;
/// How often an owner shows that it lives.
pub const BEAT: Duration = Duration::from_secs(2);
/// A seat without a sign of life for this long counts as empty and may be taken: several beats, so
/// that a busy thread does not lose its own.
pub const STALE: Duration = Duration::from_secs(10);

/// What one VM has in flight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seat {
    /// Whose seat it is, a random number.
    pub owner: u64,
    /// Last sign of life, on the process's monotonic clock.
    pub beat: Duration,
    /// Worker ([`worker_hash`]) → requests in flight; those without any are left out.
    pub in_flight: Vec<(u64, u32)>,
}

impl Seat {
    /// Key of a seat in shared data.
    #[must_use]
    pub fn key(seat: u16) -> String {
        format!("dragoman/1/load/{seat}")
    }

    /// Whether the owner has shown no sign of life for too long.
    #[must_use]
    pub fn is_stale(&self, now: Duration) -> bool {
        now.saturating_sub(self.beat) >= STALE
    }

    /// The record as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.u64(self.owner).duration(self.beat);
        out.u16(u16::try_from(self.in_flight.len()).unwrap_or(u16::MAX));
        for (worker, requests) in self.in_flight.iter().take(usize::from(u16::MAX)) {
            out.u64(*worker).u32(*requests);
        }
        out.finish()
    }

    /// The record in these bytes, if they are one.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut input = Reader::new(bytes)?;
        let owner = input.u64()?;
        let beat = input.duration()?;
        let mut in_flight = Vec::new();
        for _ in 0..input.u16()? {
            in_flight.push((input.u64()?, input.u32()?));
        }
        input.end()?;
        Some(Self {
            owner,
            beat,
            in_flight,
        })
    }
}

/// How long a claim counts at most. It is given up as soon as the attempt that it was made for shows in
/// its seat, which is on the same thread before anything else happens there; so only the claim of a
/// request that Envoy never sent, or of a VM that trapped, lasts this long.
pub const CLAIM: Duration = Duration::from_secs(1);
/// Most claims of one worker: one per thread at a time, and as many again that are left over.
const MAX_CLAIMS: usize = MAX_SEATS as usize;

/// Requests that were promised a place at a worker with a cap and do not show in a seat yet:
/// `select` → `attempt`. It is changed by compare-and-swap, so of two threads that look at the same last
/// place only one gets it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims(Vec<(u64, Duration)>);

impl Claims {
    /// Key of a worker's claims in shared data.
    #[must_use]
    pub fn key(worker: &str) -> String {
        format!("dragoman/1/claim/{worker}")
    }

    /// How many claims of others count.
    #[must_use]
    pub fn of_others(&self, claimant: u64, now: Duration) -> u32 {
        let counts = |(owner, until): &&(u64, Duration)| *owner != claimant && *until > now;
        u32::try_from(self.0.iter().filter(counts).count()).unwrap_or(u32::MAX)
    }

    /// With a claim of this claimant, in place of an older one; `None`: there are too many.
    #[must_use]
    pub fn with(mut self, claimant: u64, now: Duration) -> Option<Self> {
        self.0
            .retain(|(owner, until)| *owner != claimant && *until > now);
        if self.0.len() >= MAX_CLAIMS {
            return None;
        }
        self.0.push((claimant, now.saturating_add(CLAIM)));
        Some(self)
    }

    /// Without the claim of this claimant; `None`: there is none.
    #[must_use]
    pub fn without(mut self, claimant: u64) -> Option<Self> {
        let before = self.0.len();
        self.0.retain(|(owner, _)| *owner != claimant);
        (self.0.len() < before).then_some(self)
    }

    /// The record as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.u16(u16::try_from(self.0.len()).unwrap_or(u16::MAX));
        for (owner, until) in self.0.iter().take(usize::from(u16::MAX)) {
            out.u64(*owner).duration(*until);
        }
        out.finish()
    }

    /// The record in these bytes; none where they are not one.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Self {
        Self::read(bytes).unwrap_or_default()
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut input = Reader::new(bytes)?;
        let mut claims = Vec::new();
        for _ in 0..input.u16()? {
            claims.push((input.u64()?, input.duration()?));
        }
        input.end()?;
        Some(Self(claims))
    }
}

/// A number for a worker's id: the same in every configuration that has it.
#[must_use]
pub fn worker_hash(id: &str) -> u64 {
    fnv_1a(id.bytes())
}

/// FNV-1a with 64 bits: the same number for the same bytes, wherever it is computed.
#[must_use]
pub fn fnv_1a(bytes: impl Iterator<Item = u8>) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.fold(OFFSET, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    })
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    #[test]
    fn a_seat_reads_as_it_was_written() {
        for in_flight in [vec![], vec![(worker_hash("w1"), 3), (u64::MAX, u32::MAX)]] {
            let seat = Seat {
                owner: 7,
                beat: Duration::from_millis(123),
                in_flight,
            };
            let bytes = seat.encode();
            assert_eq!(Seat::decode(&bytes), Some(seat));
            for cut in 0..bytes.len() {
                assert_eq!(Seat::decode(&bytes[..cut]), None);
            }
        }
    }

    #[test]
    fn a_seat_is_stale_after_several_missed_beats_and_not_when_the_clock_is_behind() {
        let seat = Seat {
            beat: Duration::from_secs(100),
            ..Seat::default()
        };
        assert!(!seat.is_stale(Duration::from_secs(50)));
        assert!(!seat.is_stale(Duration::from_millis(109_999)));
        assert!(seat.is_stale(Duration::from_secs(110)));
    }

    #[test]
    fn a_claim_counts_for_others_until_it_is_given_up_or_over() {
        let at = Duration::from_secs(100);
        let claims = Claims::default().with(1, at).unwrap().with(2, at).unwrap();
        let claims = claims.with(2, at).unwrap();
        assert_eq!(Claims::decode(&claims.encode()), claims);
        assert_eq!(claims.of_others(1, at), 1);
        assert_eq!(claims.of_others(3, at), 2);
        assert_eq!(claims.of_others(3, at + CLAIM), 0);
        let left = claims.clone().without(1).unwrap();
        assert_eq!(left.of_others(3, at), 1);
        assert_eq!(left.without(1), None);
        // What is over makes room.
        let full = (0..u64::from(MAX_SEATS))
            .try_fold(Claims::default(), |claims, claimant| {
                claims.with(claimant, at)
            })
            .unwrap();
        assert_eq!(full.clone().with(1000, at), None);
        assert_eq!(
            full.with(1000, at + CLAIM)
                .unwrap()
                .of_others(0, at + CLAIM),
            1
        );
    }

    #[test]
    fn bytes_that_are_no_claims_are_none() {
        let at = Duration::from_secs(1);
        let bytes = Claims::default().with(1, at).unwrap().encode();
        for cut in 0..bytes.len() {
            assert_eq!(Claims::decode(&bytes[..cut]), Claims::default());
        }
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        // Values of the published test vectors for FNV-1a with 64 bits.
        assert_eq!(worker_hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(worker_hash("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(worker_hash("foobar"), 0x8594_4171_f739_67e8);
    }
}
