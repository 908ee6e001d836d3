//! Looking a key up.

use dragoman_slots::SharedData;

use crate::bounds::{FRESH_MS, MAX_LOOKS};
use crate::bucket;
use crate::state::{State, state};
use crate::table::Digest;

/// What a look-up found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The record of the key.
    Record(Vec<u8>),
    /// The table in force does not have it.
    Absent,
    /// No table was read yet, so nobody knows.
    NotReady,
}

/// Looks keys up, and remembers the state for [`FRESH_MS`]. One per thread.
#[derive(Debug, Default)]
pub struct Looker {
    /// The state, and when it was read.
    known: Option<(State, u64)>,
}

impl Looker {
    /// The record of a key. A key that is there costs one host call, and another one once in
    /// [`FRESH_MS`]; one that is not there two.
    ///
    /// A key is absent only if its table was in force before and after its bucket was read: then it
    /// was when it was read, because no table comes back into force. `now_ms` never goes back.
    ///
    /// # Errors
    /// When the host fails.
    pub fn find<S: SharedData>(
        &mut self,
        shared: &mut S,
        digest: &Digest,
        now_ms: u64,
    ) -> Result<Found, S::Error> {
        self.refresh(shared, now_ms)?;
        for _ in 0..MAX_LOOKS {
            let Some(table) = self.table() else {
                return Ok(Found::NotReady);
            };
            let bytes = shared.get(&table.bucket_key(table.bucket_of(digest)))?;
            let bytes = bytes.map(|(bytes, _)| bytes).unwrap_or_default();
            if let Some(record) = bucket::find(&bytes, table.id, digest) {
                return Ok(Found::Record(record.to_vec()));
            }
            self.known = state(shared)?.map(|state| (state, now_ms));
            if self.table() == Some(table) {
                return Ok(Found::Absent);
            }
        }
        Ok(Found::NotReady)
    }

    /// Whether there is a table: a host call, unless that is known.
    ///
    /// # Errors
    /// When the host fails.
    pub fn is_ready<S: SharedData>(
        &mut self,
        shared: &mut S,
        now_ms: u64,
    ) -> Result<bool, S::Error> {
        self.refresh(shared, now_ms)?;
        Ok(self.table().is_some())
    }

    fn table(&self) -> Option<crate::Table> {
        let (state, _) = self.known.as_ref()?;
        Some(state.current.as_ref()?.table)
    }

    /// Reads the state if it is not known, not fresh, or says that there is no table: whoever waits
    /// for the first one should not wait longer.
    fn refresh<S: SharedData>(&mut self, shared: &mut S, now_ms: u64) -> Result<(), S::Error> {
        let fresh = |read_ms: u64| now_ms.saturating_sub(read_ms) < FRESH_MS;
        let known = self.known.as_ref();
        if self.table().is_none() || !known.is_some_and(|(_, read_ms)| fresh(*read_ms)) {
            self.known = state(shared)?.map(|state| (state, now_ms));
        }
        Ok(())
    }
}
