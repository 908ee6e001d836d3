//! The one key that says which table is in force, and what the other area holds.

use dragoman_slots::{Reader, SharedData, Swap, swap};

use crate::bounds::{MAX_BUCKET_BITS, MAX_ETAG_BYTES};
use crate::table::{Salt, Table};

/// Key of the state in shared data.
pub const STATE_KEY: &str = "dragoman/1/keys";
const VERSION: u8 = 1;

/// What is known of the tables. Changed by compare-and-swap only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The largest id that was ever given to a table.
    pub last_id: u64,
    /// The table in force; `None` before the first one was read whole.
    pub current: Option<Current>,
    /// What the other area holds.
    pub other: Other,
}

/// The table in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Current {
    /// The table.
    pub table: Table,
    /// Number of its keys.
    pub keys: u32,
    /// Bytes of its records and their digests.
    pub bytes: u64,
    /// Entity tag under which it was read, at most [`MAX_ETAG_BYTES`].
    pub etag: String,
    /// When the control plane last said that it holds, in ms of the process's monotonic clock.
    pub confirmed_ms: u64,
}

/// What the area holds that has not the table in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Other {
    /// Nothing.
    #[default]
    Clean,
    /// A table that is being written. Only this one can come into force.
    Building(Table),
    /// The table that was in force before; what became of its keys was not looked at yet.
    Former(Table),
    /// What was written of a table that never came into force.
    Garbage(Table),
}

impl State {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        out.extend_from_slice(&self.last_id.to_le_bytes());
        let (tag, table) = match &self.other {
            Other::Clean => (0, None),
            Other::Building(table) => (1, Some(table)),
            Other::Former(table) => (2, Some(table)),
            Other::Garbage(table) => (3, Some(table)),
        };
        out.push(tag);
        if let Some(table) = table {
            write_table(&mut out, table);
        }
        if let Some(current) = &self.current {
            write_table(&mut out, &current.table);
            out.extend_from_slice(&current.keys.to_le_bytes());
            out.extend_from_slice(&current.bytes.to_le_bytes());
            out.extend_from_slice(&current.confirmed_ms.to_le_bytes());
            let length = u16::try_from(current.etag.len()).unwrap_or(0);
            out.extend_from_slice(&length.to_le_bytes());
            out.extend_from_slice(current.etag.as_bytes());
        }
        out
    }

    /// No bytes are the state before anything was written; bytes of another layout are `None`.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() {
            return Some(Self::default());
        }
        let mut input = Reader::new(bytes);
        if input.u8()? != VERSION {
            return None;
        }
        let last_id = input.u64()?;
        let other = match input.u8()? {
            0 => Other::Clean,
            1 => Other::Building(read_table(&mut input)?),
            2 => Other::Former(read_table(&mut input)?),
            3 => Other::Garbage(read_table(&mut input)?),
            _ => return None,
        };
        let current = if input.is_empty() {
            None
        } else {
            Some(read_current(&mut input)?)
        };
        input.is_empty().then_some(Self {
            last_id,
            current,
            other,
        })
    }
}

fn read_current(input: &mut Reader<'_>) -> Option<Current> {
    let table = read_table(input)?;
    let (keys, bytes, confirmed_ms) = (input.u32()?, input.u64()?, input.u64()?);
    let length = usize::from(input.u16()?);
    let etag = std::str::from_utf8(input.take(length)?).ok()?;
    (length <= MAX_ETAG_BYTES).then(|| Current {
        table,
        keys,
        bytes,
        etag: etag.to_owned(),
        confirmed_ms,
    })
}

fn write_table(out: &mut Vec<u8>, table: &Table) {
    out.extend_from_slice(&table.id.to_le_bytes());
    out.push(u8::from(table.second_area));
    out.push(table.bits);
    out.extend_from_slice(&table.salt.0);
}

fn read_table(input: &mut Reader<'_>) -> Option<Table> {
    let id = input.u64()?;
    let second_area = match input.u8()? {
        0 => false,
        1 => true,
        _ => return None,
    };
    let bits = input.u8()?;
    let salt = Salt(*input.array()?);
    (bits <= MAX_BUCKET_BITS).then_some(Table {
        id,
        second_area,
        bits,
        salt,
    })
}

/// The state: one host call. `None`: it is of a layout that this code does not know.
///
/// # Errors
/// When the host fails.
pub fn state<S: SharedData>(shared: &mut S) -> Result<Option<State>, S::Error> {
    let bytes = shared.get(STATE_KEY)?.map(|(bytes, _)| bytes);
    Ok(State::decode(&bytes.unwrap_or_default()))
}

/// Changes the state; `step` says what it becomes, or that it stays. `None`: nothing changed,
/// because it stays, is of another layout, or others were faster at every attempt.
pub(crate) fn change<S: SharedData, R>(
    shared: &mut S,
    mut step: impl FnMut(State) -> Option<(State, R)>,
) -> Result<Option<R>, S::Error> {
    let changed = swap(shared, STATE_KEY, |bytes| {
        match State::decode(bytes).and_then(&mut step) {
            Some((state, answer)) => Swap::Write(state.encode(), Some(answer)),
            None => Swap::Keep(None),
        }
    })?;
    Ok(changed.flatten())
}

/// The control plane says that the table of this id still holds. Whether it is in force.
///
/// # Errors
/// When the host fails.
pub fn confirm<S: SharedData>(shared: &mut S, id: u64, now_ms: u64) -> Result<bool, S::Error> {
    let confirmed = change(shared, |mut state| {
        let current = state.current.as_mut()?;
        if current.table.id != id {
            return None;
        }
        current.confirmed_ms = current.confirmed_ms.max(now_ms);
        Some((state, ()))
    })?;
    Ok(confirmed.is_some())
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    fn table(id: u64) -> Table {
        Table {
            id,
            second_area: id % 2 == 1,
            bits: 14,
            salt: Salt([7; 16]),
        }
    }

    #[test]
    fn a_state_reads_as_it_was_written_and_a_cut_one_does_not() {
        let current = Current {
            table: table(8),
            keys: 100_000,
            bytes: 1 << 33,
            etag: "W/\"ü\"".to_owned(),
            confirmed_ms: 123_456,
        };
        for other in [
            Other::Clean,
            Other::Building(table(9)),
            Other::Former(table(7)),
            Other::Garbage(table(9)),
        ] {
            for current in [None, Some(current.clone())] {
                let state = State {
                    last_id: 9,
                    current,
                    other,
                };
                let bytes = state.encode();
                assert_eq!(State::decode(&bytes), Some(state.clone()));
                for cut in 1..bytes.len() {
                    assert_ne!(State::decode(&bytes[..cut]), Some(state.clone()), "{cut}");
                }
                assert_eq!(State::decode(&[&bytes[..], &[0]].concat()), None);
            }
        }
    }

    #[test]
    fn what_cannot_be_a_state_is_none() {
        let right = State {
            last_id: 1,
            current: None,
            other: Other::Building(table(1)),
        }
        .encode();
        for (place, wrong) in [(0, 2), (9, 4), (18, 2), (19, 15)] {
            let mut bytes = right.clone();
            bytes[place] = wrong;
            assert_eq!(State::decode(&bytes), None, "byte {place}");
        }
    }
}
