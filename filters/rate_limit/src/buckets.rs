//! The buckets in shared data: one of a limit, for one caller.

use std::time::Duration;

use dragoman_config::Dimension;
use dragoman_contract::Identity;
use dragoman_limits::{Bucket, Decision, Limit, is_full};
use dragoman_sdk::host::millis;
use dragoman_slots::{Change, Key, Outcome, Purpose, Salt, SharedData, SlotMap, WhenFull};
use sha2::{Digest as _, Sha256};

use crate::config::Configured;

/// Room for the buckets of the largest document, 4,096 keys under 8 limits: 8 in a slot on
/// average, and 32 of the largest records (124 bytes) in each. That a slot gets more happens to one
/// such process in a million. Clients cannot make buckets, so no tenant needs to be kept from
/// filling a slot.
pub(crate) const BUCKETS: Purpose = Purpose {
    name: "buckets",
    slots: 4_096,
    slot_bytes: SLOT_BYTES,
    tenant_bytes: SLOT_BYTES,
    when_full: WhenFull::Evict(|payload, now_ms| {
        is_full(payload, now_ms.saturating_mul(1_000_000))
    }),
};
const SLOT_BYTES: u16 = 4_000;

/// How long a full bucket is remembered. A thread may be held up between reading the clock and
/// reading the bucket; as long as that takes less, it finds what others took meanwhile.
const FORGET_AFTER_MS: u64 = 1_000;

/// Tokens that a request takes.
const COST: u64 = 1;

/// Where the buckets are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buckets(SlotMap);

/// How a bucket stands, as clients are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Most tokens it holds.
    pub(crate) burst: u64,
    /// Whole tokens left.
    pub(crate) remaining: u64,
    /// Time until it is full.
    pub(crate) reset_ms: u64,
}

/// Why no token was taken.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refusal<'a> {
    /// There is none.
    Empty {
        limit: &'a Configured,
        standing: Standing,
        retry_after_ms: u64,
    },
    /// Nobody knows: others changed the slot at every one of the bounded attempts.
    Contended,
    /// Nobody knows: the slot is full of buckets that may not be forgotten.
    NoRoom,
    /// Nobody knows: the slot, or the caller, is of a form that this version does not know.
    Unreadable,
}

/// Whether a token was taken.
pub(crate) type Taken<'a> = Result<Standing, Refusal<'a>>;

impl Buckets {
    /// The buckets of this process; 128 `random` bits place them if this is its first thread.
    ///
    /// # Errors
    /// When the host fails.
    pub(crate) fn find<S: SharedData>(
        shared: &mut S,
        [low, high]: [u64; 2],
    ) -> Result<Option<Self>, S::Error> {
        let random = (u128::from(high) << 64) | u128::from(low);
        let salt = Salt::agree(shared, random.to_le_bytes())?;
        Ok(salt.map(|salt| Self(SlotMap::new(BUCKETS, salt))))
    }

    /// Takes a token, if there is one. Two host calls, or one where there is none.
    pub(crate) fn take<'a, S: SharedData>(
        &self,
        shared: &mut S,
        (limit, caller): (&'a Configured, &Identity<'_>),
        now: Duration,
    ) -> Result<Taken<'a>, S::Error> {
        let decided = self.change(shared, (limit, caller), now, |old| {
            step(old, &limit.limit, nanoseconds(now))
        });
        Ok(decided?.and_then(|decision| taken(limit, decision)))
    }

    /// What taking a token would say. One host call.
    pub(crate) fn look<'a, S: SharedData>(
        &self,
        shared: &mut S,
        (limit, caller): (&'a Configured, &Identity<'_>),
        now: Duration,
    ) -> Result<Taken<'a>, S::Error> {
        let decided = self.change(shared, (limit, caller), now, |old| {
            let (_, decision) = step(old, &limit.limit, nanoseconds(now));
            (Change::Keep, decision)
        });
        Ok(decided?.and_then(|decision| taken(limit, decision)))
    }

    /// Gives a token back that was taken. Where that fails, it comes back with time.
    pub(crate) fn give_back<S: SharedData>(
        &self,
        shared: &mut S,
        (limit, caller): (&Configured, &Identity<'_>),
        now: Duration,
    ) -> Result<(), S::Error> {
        let given = self.change(shared, (limit, caller), now, |old| {
            let Some(bucket) = old.and_then(Bucket::decode) else {
                return (Change::Keep, ());
            };
            let bucket = bucket.give_back(&limit.limit, nanoseconds(now), COST);
            (put(&bucket), ())
        });
        given.map(drop)
    }

    fn change<S: SharedData, R>(
        &self,
        shared: &mut S,
        (limit, caller): (&Configured, &Identity<'_>),
        now: Duration,
        change: impl FnMut(Option<&[u8]>) -> (Change, R),
    ) -> Result<Result<R, Refusal<'static>>, S::Error> {
        let Some(key) = Key::new(caller.tenant, digest(limit, caller)) else {
            return Ok(Err(Refusal::Unreadable));
        };
        Ok(match self.0.update(shared, &key, millis(now), change)? {
            Outcome::Done(answer) => Ok(answer),
            Outcome::Contended => Err(Refusal::Contended),
            Outcome::Full | Outcome::ShareSpent => Err(Refusal::NoRoom),
            Outcome::Unreadable => Err(Refusal::Unreadable),
        })
    }
}

/// One attempt at taking a token.
fn step(old: Option<&[u8]>, limit: &Limit, now_ns: u64) -> (Change, Decision) {
    let bucket = match old.map(Bucket::decode) {
        None => Bucket::default(),
        Some(Some(bucket)) => bucket,
        Some(None) => return start_empty(limit, now_ns),
    };
    let decision = bucket.take(limit, now_ns, COST);
    match decision {
        Decision::Admitted { bucket, .. } => (put(&bucket), decision),
        Decision::Refused { .. } | Decision::NeverAdmitted => (Change::Keep, decision),
    }
}

/// A bucket that another version of the gateway left in a form unknown here counts as empty, so
/// that no update gives tokens away; it fills as if all had just been taken.
fn start_empty(limit: &Limit, now_ns: u64) -> (Change, Decision) {
    let all = Bucket::default().take(limit, now_ns, limit.burst());
    match all {
        Decision::Admitted { bucket, .. } => (put(&bucket), bucket.take(limit, now_ns, COST)),
        Decision::Refused { .. } | Decision::NeverAdmitted => (Change::Keep, all),
    }
}

fn taken(limit: &Configured, decision: Decision) -> Taken<'_> {
    let burst = limit.limit.burst();
    match decision {
        Decision::Admitted {
            remaining,
            reset_ms,
            ..
        } => Ok(Standing {
            burst,
            remaining,
            reset_ms,
        }),
        Decision::Refused {
            retry_after_ms,
            remaining,
            reset_ms,
        } => Err(Refusal::Empty {
            limit,
            standing: Standing {
                burst,
                remaining,
                reset_ms,
            },
            retry_after_ms,
        }),
        // A bucket holds at least one token, which is all that is asked of it.
        Decision::NeverAdmitted => Err(Refusal::Unreadable),
    }
}

fn put(bucket: &Bucket) -> Change {
    Change::Put {
        payload: bucket.encode().to_vec(),
        expires_ms: bucket.full_at_ms().saturating_add(FORGET_AFTER_MS),
    }
}

/// What tells a bucket from the others of its tenant. Every part has a mark and its length before
/// it, so that no two lists of parts are the same bytes.
fn digest(limit: &Configured, caller: &Identity<'_>) -> [u8; 32] {
    let mut digest = Sha256::new();
    let mut add = |mark: u8, part: &str| {
        let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
        digest.update([mark]);
        digest.update(length.to_le_bytes());
        digest.update(part);
    };
    add(b'l', &limit.name);
    for dimension in &limit.by {
        match dimension {
            Dimension::Tenant => add(b't', caller.tenant),
            Dimension::App => add(b'a', caller.app),
            Dimension::Key => add(b'k', caller.key),
        }
    }
    digest.finalize().into()
}

fn nanoseconds(now: Duration) -> u64 {
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}
