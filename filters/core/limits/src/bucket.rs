//! A bucket as the time at which it will be full again.

use crate::limit::{Limit, MAX_TOKENS};

/// Bytes of a stored bucket.
pub const BUCKET_BYTES: usize = 16;

const VERSION: u8 = 1;
const NS_PER_MS: u128 = 1_000_000;

/// How many tokens were taken, as the moment at which all of them will have come back.
///
/// The default is a full bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// Whole nanoseconds of that moment.
    full_ns: u64,
    /// The rest of it, in units of 1 / tokens ns; below [`MAX_TOKENS`].
    rest: u64,
}

/// Whether tokens were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// They were.
    Admitted {
        /// The bucket without them, to be stored.
        bucket: Bucket,
        /// Whole tokens left.
        remaining: u64,
        /// Time until the bucket is full again, rounded up.
        reset_ms: u64,
    },
    /// They are not there now; the bucket stays as it was.
    Refused {
        /// Time until they will be there if nobody else takes any, rounded up.
        retry_after_ms: u64,
        /// Whole tokens left.
        remaining: u64,
        /// Time until the bucket is full again, rounded up.
        reset_ms: u64,
    },
    /// They are more than the bucket ever holds; the bucket stays as it was.
    NeverAdmitted,
}

impl Bucket {
    /// As bytes: nanoseconds (u64), the rest in seven bytes, the version. Little-endian.
    #[must_use]
    pub fn encode(&self) -> [u8; BUCKET_BYTES] {
        let rest = self.rest | (u64::from(VERSION) << 56);
        ((u128::from(rest) << 64) | u128::from(self.full_ns)).to_le_bytes()
    }

    /// The bucket in these bytes, if they are one.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (full_ns, rest) = bytes.split_first_chunk::<8>()?;
        let rest = u64::from_le_bytes(rest.try_into().ok()?);
        let full_ns = u64::from_le_bytes(*full_ns);
        let rest = rest ^ (u64::from(VERSION) << 56);
        (rest < MAX_TOKENS).then_some(Self { full_ns, rest })
    }

    /// Whether all tokens are there at `now_ns`. Such a bucket says nothing that a new one does
    /// not, whatever its limit, and may be forgotten.
    #[must_use]
    pub fn is_full(&self, now_ns: u64) -> bool {
        self.full_ns < now_ns || (self.full_ns == now_ns && self.rest == 0)
    }

    /// The moment at which all tokens will be there, rounded up; the record may expire then.
    #[must_use]
    pub fn full_at_ms(&self) -> u64 {
        let ns = u128::from(self.full_ns).saturating_add(u128::from(self.rest > 0));
        whole(ns.div_ceil(NS_PER_MS))
    }

    /// Takes `cost` tokens, all or none. `now_ns` comes from a monotonic clock; one that stands
    /// still or goes back gives no tokens.
    #[must_use]
    pub fn take(&self, limit: &Limit, now_ns: u64, cost: u64) -> Decision {
        if cost > limit.burst() {
            return Decision::NeverAdmitted;
        }
        let (taken, whole_burst) = (self.taken(limit, now_ns), limit.units(limit.burst()));
        let after = taken + limit.units(cost);
        let too_much = after.saturating_sub(whole_burst);
        let bucket = Self::after(limit, now_ns, after);
        match bucket.filter(|_| too_much == 0) {
            Some(bucket) => Decision::Admitted {
                bucket,
                remaining: remaining(limit, after),
                reset_ms: ms(limit, after),
            },
            None => Decision::Refused {
                // 0 only where the time no longer fits 64 bits, after 584 years.
                retry_after_ms: ms(limit, too_much).max(1),
                remaining: remaining(limit, taken),
                reset_ms: ms(limit, taken),
            },
        }
    }

    /// Gives tokens back; the bucket never holds more than its burst.
    #[must_use]
    pub fn give_back(&self, limit: &Limit, now_ns: u64, amount: u64) -> Self {
        let taken = self.taken(limit, now_ns);
        let taken = taken.saturating_sub(limit.units(amount));
        // Less than before, which fitted.
        Self::after(limit, now_ns, taken).unwrap_or(*self)
    }

    /// Turns tokens that were reserved by [`Bucket::take`] into those that were used. More than
    /// reserved are taken even if they are not there, so the bucket may owe some: at most one
    /// burst, so that no false report of a worker locks a caller out for long.
    #[must_use]
    pub fn settle(&self, limit: &Limit, now_ns: u64, reserved: u64, used: u64) -> Self {
        let Some(more) = used.checked_sub(reserved).filter(|more| *more > 0) else {
            return self.give_back(limit, now_ns, reserved.saturating_sub(used));
        };
        let taken = self.taken(limit, now_ns);
        let most = limit.units(limit.burst()).saturating_mul(2).max(taken);
        let taken = taken.saturating_add(limit.units(more)).min(most);
        Self::after(limit, now_ns, taken).unwrap_or(*self)
    }

    /// Tokens that have not come back yet, as time in units of 1 / tokens ns. Below 2^113.
    fn taken(&self, limit: &Limit, now_ns: u64) -> u128 {
        match self.full_ns.checked_sub(now_ns) {
            // The rest may have been left under a limit of more tokens: it is less than 1 ns.
            Some(ns) => u128::from(ns) * limit.tokens() + u128::from(self.rest).min(limit.tokens()),
            None => 0,
        }
    }

    /// The bucket that lacks so much; `None` where its time does not fit, after 584 years.
    fn after(limit: &Limit, now_ns: u64, taken: u128) -> Option<Self> {
        let ns = taken.checked_div(limit.tokens())?;
        let rest = taken.checked_rem(limit.tokens())?;
        Some(Self {
            full_ns: now_ns.checked_add(u64::try_from(ns).ok()?)?,
            rest: u64::try_from(rest).ok()?,
        })
    }
}

/// Whether these bytes are a bucket that is full, for the question what a slot may forget.
#[must_use]
pub fn is_full(bytes: &[u8], now_ns: u64) -> bool {
    Bucket::decode(bytes).is_some_and(|bucket| bucket.is_full(now_ns))
}

/// Whole tokens of a bucket that lacks so much.
fn remaining(limit: &Limit, taken: u128) -> u64 {
    let left = limit.units(limit.burst()).saturating_sub(taken);
    whole(left.checked_div(limit.units(1)).unwrap_or(0))
}

/// A time in units of 1 / tokens ns in milliseconds, rounded up.
fn ms(limit: &Limit, units: u128) -> u64 {
    whole(units.div_ceil(limit.tokens().saturating_mul(NS_PER_MS).max(1)))
}

fn whole(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}
