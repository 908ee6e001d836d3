//! Writing a table: begin, add each key, bring it into force.

use dragoman_slots::{SharedData, Swap, swap};

use crate::bounds::{MAX_ETAG_BYTES, MAX_KEYS, MAX_RECORD_BYTES, MAX_TABLE_BYTES};
use crate::bucket::{self, RECORD_BYTES};
use crate::state::{Current, Other, change};
use crate::table::{Digest, Salt, Table, bits};

/// A table that is being written.
#[derive(Debug)]
pub struct Build {
    table: Table,
    keys: u32,
    bytes: u64,
}

/// How a beginning ended.
#[derive(Debug)]
pub enum Begin {
    /// Keys can be added.
    Building(Build),
    /// The other area holds something: [`crate::Sweep`] it, or [`abandon`] what is being written.
    Occupied,
}

/// Why a table is refused whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The key is there already.
    Duplicate,
    /// The record has more than [`MAX_RECORD_BYTES`].
    RecordTooLong,
    /// There are more than [`MAX_KEYS`].
    TooManyKeys,
    /// All records have more than [`MAX_TABLE_BYTES`], or those of one bucket more than fit.
    TooLarge,
}

/// What became of a key that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is there.
    Done,
    /// The table is no good; [`abandon`] it.
    Refused(Refusal),
    /// A later table is being written by somebody else: this one can never come into force.
    Overtaken,
}

/// Begins a table in the area that has not the one in force. `keys` is their number where it is
/// known; `salt` is used for the first table, later ones keep its, so that equal tables have equal
/// buckets.
///
/// # Errors
/// When the host fails.
pub fn begin<S: SharedData>(
    shared: &mut S,
    keys: Option<u32>,
    salt: Salt,
) -> Result<Begin, S::Error> {
    let begun = change(shared, |mut state| {
        if state.other != Other::Clean {
            return None;
        }
        let current = state.current.as_ref().map(|current| current.table);
        let table = Table {
            id: state.last_id.checked_add(1)?,
            second_area: current.is_some_and(|current| !current.second_area),
            bits: bits(keys),
            salt: current.map_or(salt, |current| current.salt),
        };
        state.last_id = table.id;
        state.other = Other::Building(table);
        Some((state, table))
    })?;
    Ok(match begun {
        Some(table) => Begin::Building(Build {
            table,
            keys: 0,
            bytes: 0,
        }),
        None => Begin::Occupied,
    })
}

impl Build {
    /// The table that is being written.
    #[must_use]
    pub const fn table(&self) -> &Table {
        &self.table
    }

    /// Keys that were added.
    #[must_use]
    pub const fn keys(&self) -> u32 {
        self.keys
    }

    /// Adds a key: two host calls.
    ///
    /// # Errors
    /// When the host fails; the table is then to be abandoned.
    pub fn add<S: SharedData>(
        &mut self,
        shared: &mut S,
        digest: &Digest,
        record: &[u8],
    ) -> Result<Written, S::Error> {
        if record.len() > MAX_RECORD_BYTES {
            return Ok(Written::Refused(Refusal::RecordTooLong));
        }
        if self.keys >= MAX_KEYS {
            return Ok(Written::Refused(Refusal::TooManyKeys));
        }
        let bytes = self.bytes + (RECORD_BYTES + record.len()) as u64;
        if bytes > MAX_TABLE_BYTES {
            return Ok(Written::Refused(Refusal::TooLarge));
        }
        let id = self.table.id;
        let key = self.table.bucket_key(self.table.bucket_of(digest));
        let written = swap(shared, &key, |old| {
            if bucket::id(old).is_some_and(|other| other > id) {
                return Swap::Keep(Written::Overtaken);
            }
            if bucket::find(old, id, digest).is_some() {
                return Swap::Keep(Written::Refused(Refusal::Duplicate));
            }
            match bucket::with(old, id, digest, record) {
                Some(new) => Swap::Write(new, Written::Done),
                None => Swap::Keep(Written::Refused(Refusal::TooLarge)),
            }
        })?
        // Who else writes this bucket time and again writes another table.
        .unwrap_or(Written::Overtaken);
        if written == Written::Done {
            self.keys += 1;
            self.bytes = bytes;
        }
        Ok(written)
    }

    /// Brings the table into force, if no other was begun since. Everybody sees all of it from then
    /// on, and the one before waits for its [`crate::Sweep`].
    ///
    /// # Errors
    /// When the host fails.
    pub fn commit<S: SharedData>(
        self,
        shared: &mut S,
        etag: &str,
        now_ms: u64,
    ) -> Result<bool, S::Error> {
        if etag.len() > MAX_ETAG_BYTES {
            return Ok(false);
        }
        let committed = change(shared, |mut state| {
            if state.other != Other::Building(self.table) {
                return None;
            }
            let current = Current {
                table: self.table,
                keys: self.keys,
                bytes: self.bytes,
                etag: etag.to_owned(),
                confirmed_ms: now_ms,
            };
            state.other = match state.current.replace(current) {
                Some(former) => Other::Former(former.table),
                None => Other::Clean,
            };
            Some((state, ()))
        })?;
        Ok(committed.is_some())
    }
}

/// Gives up the table that is being written, whoever does it; its bytes wait for a
/// [`crate::Sweep`].
///
/// # Errors
/// When the host fails.
pub fn abandon<S: SharedData>(shared: &mut S, table: &Table) -> Result<bool, S::Error> {
    let abandoned = change(shared, |mut state| {
        if state.other != Other::Building(*table) {
            return None;
        }
        state.other = Other::Garbage(*table);
        Some((state, ()))
    })?;
    Ok(abandoned.is_some())
}
