//! Records and kept bodies in shared data, and how much of it they may use.

use dragoman_slots::{
    Key, Lease, Outcome, Pool, PoolBounds, Purpose, Salt, SharedData, SlotMap, WhenFull, Write,
};

use crate::claim::{Claimed, Settlement};
use crate::claims::Claim;
use crate::keeping::Until;
use crate::key::RecordId;

/// Records: 64 MiB in all. A claim takes about 170 bytes, a short answer with its head about a
/// kilobyte. A slot of 16 KiB is read and written for each change, about 3 µs each; three quarters
/// of it are the most for one tenant, so nobody fills the store for all others.
pub(crate) const RECORDS: Purpose = Purpose {
    name: "idempotency",
    slots: 4096,
    slot_bytes: 16 * 1024,
    tenant_bytes: 12 * 1024,
    when_full: WhenFull::Refuse,
};

/// Bodies: 128 MiB in all, three quarters of it for one tenant.
pub(crate) const BODIES: PoolBounds = PoolBounds {
    chunks: 2048,
    tenant_chunks: 48,
};

/// The largest body that stands in its record. Longer ones take chunks, of which there are fewer
/// than there is room for short answers.
pub(crate) const INLINE_BYTES: usize = 4 * 1024;

/// Most bytes of shared data that records and bodies ever take.
pub(crate) fn bound_bytes() -> u64 {
    RECORDS.bound_bytes().saturating_add(BODIES.bound_bytes())
}

/// The store of this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Store {
    records: SlotMap,
    bodies: Pool,
}

impl Store {
    pub(crate) fn new(salt: Salt) -> Self {
        Self::of(RECORDS, BODIES, salt)
    }

    fn of(records: Purpose, bodies: PoolBounds, salt: Salt) -> Self {
        Self {
            records: SlotMap::new(records, salt),
            bodies: Pool::new(bodies, salt),
        }
    }

    /// Claims a key until `lease_ms` from now.
    pub(crate) fn claim<S: SharedData>(
        &self,
        shared: &mut S,
        claim: &Claim,
        now_ms: u64,
        lease_ms: u64,
    ) -> Result<Outcome<Claimed>, S::Error> {
        let expires_ms = now_ms.saturating_add(lease_ms);
        let Some(key) = claim.id.key() else {
            return Ok(Outcome::Unreadable);
        };
        self.records.update(shared, &key, now_ms, |payload| {
            claim.claimant.claim(payload, expires_ms)
        })
    }

    /// Moves the end of a claim's lease, and of its chunks'.
    pub(crate) fn renew<S: SharedData>(
        &self,
        shared: &mut S,
        claim: &Claim,
        now_ms: u64,
        lease_ms: u64,
    ) -> Result<(), S::Error> {
        let expires_ms = now_ms.saturating_add(lease_ms);
        if let Some(key) = claim.id.key() {
            self.records.update(shared, &key, now_ms, |payload| {
                claim.claimant.renew(payload, expires_ms)
            })?;
        }
        self.keep_body(shared, claim, expires_ms)?;
        Ok(())
    }

    /// Ends a claim. Only an answer can need more room than the claim had.
    pub(crate) fn settle<S: SharedData>(
        &self,
        shared: &mut S,
        claim: &Claim,
        now_ms: u64,
        end: &Settlement,
    ) -> Result<Outcome<bool>, S::Error> {
        let Some(key) = claim.id.key() else {
            return Ok(Outcome::Unreadable);
        };
        self.records.update(shared, &key, now_ms, |payload| {
            claim.claimant.settle(payload, end)
        })
    }

    /// Puts the next part of an answer away; `until` is when its claim ends. `false`: there is no room for it.
    pub(crate) fn append<S: SharedData>(
        &self,
        shared: &mut S,
        claim: &mut Claim,
        bytes: &[u8],
        until: Until,
    ) -> Result<bool, S::Error> {
        let Some(key) = claim.id.key() else {
            return Ok(false);
        };
        let Some(more) = self.chunk(shared, &key, until)? else {
            return Ok(false);
        };
        let index = claim.chunks.as_ref().map_or(0, |held| held.chunks().len());
        let is_joined = match &mut claim.chunks {
            Some(held) => held.join(&more),
            none => {
                *none = Some(more.clone());
                true
            }
        };
        if !is_joined {
            self.bodies.release(shared, &more)?;
            return Ok(false);
        }
        let Some(held) = &claim.chunks else {
            return Ok(false);
        };
        let written = self.bodies.write(shared, held, index, bytes)?;
        Ok(written == Write::Written)
    }

    /// One chunk.
    fn chunk<S: SharedData>(
        &self,
        shared: &mut S,
        key: &Key<'_>,
        until: Until,
    ) -> Result<Option<Lease>, S::Error> {
        self.bodies
            .allocate(shared, key, 1, until.now_ms, until.expires_ms)
    }

    /// Keeps what was put away until then. `false`: it is gone, at least in part.
    pub(crate) fn keep_body<S: SharedData>(
        &self,
        shared: &mut S,
        claim: &Claim,
        expires_ms: u64,
    ) -> Result<bool, S::Error> {
        match &claim.chunks {
            Some(held) => self.bodies.renew(shared, held, expires_ms),
            None => Ok(true),
        }
    }

    /// Forgets what was put away.
    pub(crate) fn forget_body<S: SharedData>(
        &self,
        shared: &mut S,
        claim: &mut Claim,
    ) -> Result<(), S::Error> {
        match claim.chunks.take() {
            Some(held) => self.bodies.release(shared, &held),
            None => Ok(()),
        }
    }

    /// The body in these chunks, if it is still there.
    pub(crate) fn body<S: SharedData>(
        &self,
        shared: &mut S,
        id: &RecordId,
        chunks: &[u8],
        length: u32,
    ) -> Result<Option<Vec<u8>>, S::Error> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        match Lease::decode(id.sha256(), chunks) {
            Some(lease) => self.bodies.read(shared, &lease, length),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests;
