//! Records of one purpose: read one, change one.

use crate::key::Key;
use crate::layout::{self, Record};
use crate::purpose::{Purpose, WhenFull};
use crate::salt::Salt;
use crate::shared::{SharedData, Swap, swap, value};

/// What becomes of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It stays as it is.
    Keep,
    /// It is this from now on.
    Put {
        /// What the record says.
        payload: Vec<u8>,
        /// The record is gone from then on, in ms of the caller's clock.
        expires_ms: u64,
    },
    /// It is gone.
    Remove,
}

/// How a change ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<R> {
    /// Done, with the answer of the change that was made.
    Done(R),
    /// Nothing changed: the slot has no room for the record.
    Full,
    /// Nothing changed: the tenant's share of the slot has no room for the record.
    ShareSpent,
    /// Nothing changed: others were faster at every one of the bounded attempts.
    Contended,
    /// Nothing changed: the slot is not of a layout that this code knows, so it was left alone.
    Unreadable,
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// Payload of a live record.
    Found(Vec<u8>),
    /// There is no live record.
    Absent,
    /// The slot is not of a layout that this code knows.
    Unreadable,
}

/// The records of one purpose.
#[derive(Clone, Copy, Debug)]
pub struct SlotMap {
    purpose: Purpose,
    salt: Salt,
}

impl SlotMap {
    /// The records of this purpose, placed by this salt.
    #[must_use]
    pub const fn new(purpose: Purpose, salt: Salt) -> Self {
        Self { purpose, salt }
    }

    /// The live record of a key: one host call.
    ///
    /// # Errors
    /// When the host fails.
    pub fn read<S: SharedData>(
        &self,
        shared: &mut S,
        key: &Key<'_>,
        now_ms: u64,
    ) -> Result<Read, S::Error> {
        let slot = value(shared, &self.slot_key(key))?;
        let Some(records) = layout::decode(&slot) else {
            return Ok(Read::Unreadable);
        };
        let mut found = records.iter().filter(|record| is_live(record, now_ms));
        Ok(match found.find(|record| record.belongs_to(key)) {
            Some(record) => Read::Found(record.payload.to_vec()),
            None => Read::Absent,
        })
    }

    /// Changes the record of a key by compare-and-swap: two host calls, or one where nothing
    /// changes, and two more for every attempt that others were faster at.
    ///
    /// `change` is shown the payload of the live record. It runs once for every attempt and must
    /// have no effects of its own. A change that does not make a live record larger always has
    /// room.
    ///
    /// # Errors
    /// When the host fails; it is then unknown whether the change was made.
    pub fn update<S: SharedData, R>(
        &self,
        shared: &mut S,
        key: &Key<'_>,
        now_ms: u64,
        mut change: impl FnMut(Option<&[u8]>) -> (Change, R),
    ) -> Result<Outcome<R>, S::Error> {
        let done = swap(shared, &self.slot_key(key), |bytes| {
            self.step(bytes, key, now_ms, &mut change)
        })?;
        Ok(done.unwrap_or(Outcome::Contended))
    }

    /// One attempt at a change.
    fn step<R>(
        &self,
        bytes: &[u8],
        key: &Key<'_>,
        now_ms: u64,
        change: &mut impl FnMut(Option<&[u8]>) -> (Change, R),
    ) -> Swap<Outcome<R>> {
        let Some(records) = layout::decode(bytes) else {
            return Swap::Keep(Outcome::Unreadable);
        };
        let live = records.into_iter().filter(|record| is_live(record, now_ms));
        let (own, mut others): (Vec<_>, Vec<_>) = live.partition(|record| record.belongs_to(key));
        let old = own.first();
        let (change, answer) = change(old.map(|record| record.payload));
        let (payload, expires_ms) = match change {
            Change::Put {
                payload,
                expires_ms,
            } => (payload, expires_ms),
            Change::Remove if old.is_some() => {
                return Swap::Write(layout::encode(&others), Outcome::Done(answer));
            }
            Change::Keep | Change::Remove => return Swap::Keep(Outcome::Done(answer)),
        };
        let record = Record {
            expires_ms,
            sha256: key.sha256(),
            tenant: key.tenant().as_bytes(),
            payload: &payload,
        };
        let grows = old.is_none_or(|old| record.size() > old.size());
        if grows && let Err(none) = self.make_room(&mut others, &record, now_ms) {
            return Swap::Keep(match none {
                NoRoom::Slot => Outcome::Full,
                NoRoom::Share => Outcome::ShareSpent,
            });
        }
        others.push(record);
        Swap::Write(layout::encode(&others), Outcome::Done(answer))
    }

    /// Forgets what may be forgotten, if `record` has no room otherwise.
    fn make_room(
        &self,
        others: &mut Vec<Record<'_>>,
        record: &Record<'_>,
        now_ms: u64,
    ) -> Result<(), NoRoom> {
        match (self.has_room(others, record), self.purpose.when_full) {
            (Err(_), WhenFull::Evict(is_forgettable)) => {
                others.retain(|other| !is_forgettable(other.payload, now_ms));
                self.has_room(others, record)
            }
            (found, _) => found,
        }
    }

    fn has_room(&self, others: &[Record<'_>], record: &Record<'_>) -> Result<(), NoRoom> {
        let of_tenant = others.iter().filter(|other| other.tenant == record.tenant);
        let share = of_tenant.fold(record.size(), |sum, other| sum.saturating_add(other.size()));
        let slot = layout::size(others).saturating_add(record.size());
        if slot > usize::from(self.purpose.slot_bytes) {
            Err(NoRoom::Slot)
        } else if share > usize::from(self.purpose.tenant_bytes) {
            Err(NoRoom::Share)
        } else {
            Ok(())
        }
    }

    fn slot_key(&self, key: &Key<'_>) -> String {
        let slot = self.salt.pick(key.sha256(), self.purpose.slots());
        self.purpose.key(slot)
    }
}

/// Why a record has no room.
enum NoRoom {
    Slot,
    Share,
}

fn is_live(record: &Record<'_>, now_ms: u64) -> bool {
    record.expires_ms > now_ms
}
