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
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    use super::*;
    use crate::claim::Claimant;
    use crate::copying::Memory;
    use crate::keeping::{Answering, Kept};
    use crate::record::{Fingerprint, Owner};

    #[derive(Default)]
    struct Map(BTreeMap<String, Vec<u8>>);

    impl SharedData for Map {
        type Error = Infallible;

        fn get(&mut self, key: &str) -> Result<Option<(Vec<u8>, u32)>, Infallible> {
            Ok(self.0.get(key).map(|value| (value.clone(), 0)))
        }

        fn set(&mut self, key: &str, value: &[u8], _: u32) -> Result<bool, Infallible> {
            self.0.insert(key.to_owned(), value.to_vec());
            Ok(true)
        }
    }

    /// One slot and one chunk.
    fn small(shared: &mut Map) -> Store {
        let salt = Salt::agree(shared, [1; 16]).unwrap().unwrap();
        let records = Purpose {
            slots: 1,
            ..RECORDS
        };
        let bodies = PoolBounds {
            chunks: 1,
            ..BODIES
        };
        Store::of(records, bodies, salt)
    }

    fn claim(number: u32) -> Claim {
        Claim {
            id: RecordId::new(None, &number.to_le_bytes()),
            claimant: Claimant {
                fingerprint: Fingerprint {
                    api: 1,
                    body_sha256: [0; 32],
                },
                owner: Owner([7; 16]),
                request_id: "r1".to_owned(),
            },
            chunks: None,
        }
    }

    fn asked(store: Store, shared: &mut Map, number: u32) -> Outcome<Claimed> {
        store.claim(shared, &claim(number), 0, 10).unwrap()
    }

    fn answer(store: Store, shared: &mut Map, number: u32, length: usize) -> Kept {
        let mut claim = claim(number);
        let until = Until {
            now_ms: 0,
            expires_ms: 10,
        };
        let memory = Memory::new(1 << 20);
        let mut answering = Answering::new(&memory, 1 << 20, 200, Some(Vec::new()), None);
        let body = vec![b'x'; length];
        answering
            .push(shared, store, &mut claim, &body, until)
            .unwrap();
        answering.keep(shared, store, &mut claim, until).unwrap()
    }

    #[test]
    fn a_full_slot_refuses_new_keys_and_forgets_none() {
        let mut shared = Map::default();
        let store = small(&mut shared);
        let granted = Outcome::Done(Claimed::Granted);
        let mut claims = 0;
        while asked(store, &mut shared, claims) == granted {
            claims += 1;
        }
        assert!(claims > 80, "{claims}");
        assert_eq!(asked(store, &mut shared, claims), Outcome::ShareSpent);

        // Answers need more room than claims: the first takes the chunk, the others are given up.
        for number in 0..claims {
            let kept = answer(store, &mut shared, number, 4000);
            assert_eq!(kept == Kept::Whole, number == 0, "{number}: {kept:?}");
        }
        for number in 0..claims {
            let known = asked(store, &mut shared, number);
            let is_known = match known {
                Outcome::Done(Claimed::Answered(_)) => number == 0,
                Outcome::Done(Claimed::TooLarge) => number > 0,
                _ => false,
            };
            assert!(is_known, "{number}: {known:?}");
        }
    }

    #[test]
    fn what_is_given_up_leaves_its_chunks_to_others() {
        let mut shared = Map::default();
        let store = small(&mut shared);
        for number in 0..2 {
            asked(store, &mut shared, number);
        }
        assert_eq!(answer(store, &mut shared, 0, 70_000), Kept::TooLarge);
        assert_eq!(answer(store, &mut shared, 1, 60_000), Kept::Whole);
    }

    #[test]
    fn the_bound_is_what_the_readme_says() {
        assert_eq!(bound_bytes().div_ceil(1 << 20), 193);
    }

    #[test]
    fn any_number_of_keys_stays_within_the_bound() {
        let mut shared = Map::default();
        let salt = Salt::agree(&mut shared, [1; 16]).unwrap().unwrap();
        let store = Store::new(salt);
        let mut kept = 0;
        for number in 0..100_000 {
            if asked(store, &mut shared, number) == Outcome::Done(Claimed::Granted)
                && answer(store, &mut shared, number, 700) == Kept::Whole
            {
                kept += 1;
            }
        }
        let used = shared.0.iter().map(|(key, value)| key.len() + value.len());
        let used = used.sum::<usize>() as u64;
        assert!(used <= bound_bytes(), "{used}");
        assert!(kept > 50_000, "{kept}");
    }
}
