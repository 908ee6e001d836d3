//! Emptying the area that has not the table in force, and telling what became of its keys.

use dragoman_slots::SharedData;

use crate::bucket::{self, Bucket};
use crate::state::{Other, State, change};
use crate::table::{Digest, Table};

/// A key of the former table.
#[derive(Clone, Copy, Debug)]
pub struct Departure<'a> {
    /// SHA-256 of the key.
    pub digest: &'a Digest,
    /// Its record in the former table.
    pub before: &'a [u8],
    /// Its record in the table in force; `None`: it is not there any more.
    pub after: Option<&'a [u8]>,
}

/// Whether there is more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another step is needed.
    More,
    /// The area is clean.
    Done,
}

/// A sweep that is under way. It may be lost with its thread: another one begins from the start,
/// and tells nothing twice, because what was told was emptied.
#[derive(Debug)]
pub struct Sweep {
    swept: Table,
    /// The table in force, if the other was in force before it.
    successor: Option<Table>,
    next: u32,
    /// A bucket of the successor: most keys of a bucket are in one and the same there.
    seen: Option<(u32, Vec<u8>)>,
}

/// Digest, record in the former table, record in its successor.
type Departed<'a> = (&'a Digest, &'a [u8], Option<Vec<u8>>);

/// Work for a bucket with records, where one without is 1.
const FULL_BUCKET: u32 = 8;

impl Sweep {
    /// What the state says is to be swept; `None`: nothing.
    #[must_use]
    pub fn of(state: &State) -> Option<Self> {
        let current = state.current.as_ref().map(|current| current.table);
        let (swept, successor) = match state.other {
            Other::Former(table) => (table, current),
            Other::Garbage(table) => (table, None),
            Other::Clean | Other::Building(_) => return None,
        };
        Some(Self {
            swept,
            successor,
            next: 0,
            seen: None,
        })
    }

    /// Empties buckets and tells of each key of a former table, until `work` is used up: one for
    /// an empty bucket (a host call), eight for one with records (two calls, and as many more as
    /// there are buckets that have its keys now).
    ///
    /// # Errors
    /// When the host fails.
    pub fn step<S: SharedData>(
        &mut self,
        shared: &mut S,
        work: u32,
        mut tell: impl FnMut(Departure<'_>),
    ) -> Result<Progress, S::Error> {
        let mut left = work.max(1);
        while self.next < self.swept.buckets() {
            if left == 0 {
                return Ok(Progress::More);
            }
            let key = self.swept.bucket_key(self.next);
            let (bytes, cas) = shared.get(&key)?.unwrap_or_default();
            self.next += 1;
            // Of a later table: somebody else has swept all this before.
            let ours = bucket::id(&bytes).is_none_or(|id| id <= self.swept.id);
            if bytes.is_empty() || !ours {
                left -= 1;
                continue;
            }
            left = left.saturating_sub(FULL_BUCKET);
            let departed = self.departed(shared, &bytes)?;
            // Who empties it tells.
            if shared.set(&key, b"", cas)? {
                for (digest, before, after) in &departed {
                    let after = after.as_deref();
                    tell(Departure {
                        digest,
                        before,
                        after,
                    });
                }
            }
        }
        self.finish(shared)?;
        Ok(Progress::Done)
    }

    fn departed<'a, S: SharedData>(
        &mut self,
        shared: &mut S,
        bytes: &'a [u8],
    ) -> Result<Vec<Departed<'a>>, S::Error> {
        let (Some(successor), Some(bucket)) = (self.successor, Bucket::decode(bytes)) else {
            return Ok(Vec::new());
        };
        let mut departed = Vec::new();
        for record in bucket.records {
            if bucket.id == self.swept.id {
                let after = self.after(shared, &successor, record.digest)?;
                departed.push((record.digest, record.payload, after));
            }
        }
        Ok(departed)
    }

    fn after<S: SharedData>(
        &mut self,
        shared: &mut S,
        successor: &Table,
        digest: &Digest,
    ) -> Result<Option<Vec<u8>>, S::Error> {
        let place = successor.bucket_of(digest);
        if self.seen.as_ref().is_none_or(|(seen, _)| *seen != place) {
            let found = shared.get(&successor.bucket_key(place))?;
            self.seen = Some((place, found.map(|(bytes, _)| bytes).unwrap_or_default()));
        }
        let bytes = self.seen.as_ref().map(|(_, bytes)| bytes.as_slice());
        let found = bucket::find(bytes.unwrap_or_default(), successor.id, digest);
        Ok(found.map(<[u8]>::to_vec))
    }

    fn finish<S: SharedData>(&self, shared: &mut S) -> Result<(), S::Error> {
        change(shared, |mut state| match state.other {
            Other::Former(table) | Other::Garbage(table) if table == self.swept => {
                state.other = Other::Clean;
                Some((state, ()))
            }
            _ => None,
        })?;
        Ok(())
    }
}
