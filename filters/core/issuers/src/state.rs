//! The one key of an issuer that says which of its sets is in force.

use dragoman_slots::{Reader, SharedData, Swap, swap};
use sha2::{Digest as _, Sha256};

use crate::bounds::MAX_ETAG_BYTES;

const VERSION: u8 = 1;

/// A digest of everything that says where a set comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin([u8; 32]);

impl Origin {
    /// Of these texts, in this order.
    #[must_use]
    pub fn of(texts: &[&str]) -> Self {
        let mut digest = Sha256::new();
        for text in texts {
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text.as_bytes());
        }
        Self(digest.finalize().into())
    }
}

/// What is known of an issuer's sets. Changed by compare-and-swap only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// The largest number that was ever given to a set.
    pub last: u64,
    /// The set in force.
    pub current: Option<Current>,
}

/// The set in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Current {
    pub number: u64,
    pub second_area: bool,
    pub origin: Origin,
    /// When the issuer last said that it holds, in ms of the process's monotonic clock.
    pub confirmed_ms: u64,
    /// Its tag; empty: it has none.
    pub etag: String,
}

impl State {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        out.extend_from_slice(&self.last.to_le_bytes());
        if let Some(current) = &self.current {
            out.extend_from_slice(&current.number.to_le_bytes());
            out.push(u8::from(current.second_area));
            out.extend_from_slice(&current.origin.0);
            out.extend_from_slice(&current.confirmed_ms.to_le_bytes());
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
        let last = input.u64()?;
        let current = if input.is_empty() {
            None
        } else {
            Some(read_current(input)?)
        };
        Some(Self { last, current })
    }
}

fn read_current(mut input: Reader<'_>) -> Option<Current> {
    let number = input.u64()?;
    let second_area = match input.u8()? {
        0 => false,
        1 => true,
        _ => return None,
    };
    let origin = Origin(*input.array()?);
    let confirmed_ms = input.u64()?;
    let etag = input.rest();
    let etag = std::str::from_utf8(etag).ok()?;
    (etag.len() <= MAX_ETAG_BYTES).then(|| Current {
        number,
        second_area,
        origin,
        confirmed_ms,
        etag: etag.to_owned(),
    })
}

/// Key of an issuer's state in shared data.
pub(crate) fn state_key(issuer: &str) -> String {
    format!("dragoman/1/issuer/{issuer}")
}

/// Key of one of an issuer's sets.
pub(crate) fn set_key(issuer: &str, second_area: bool) -> String {
    let area = if second_area { 'b' } else { 'a' };
    format!("dragoman/1/issuer/{issuer}/{area}")
}

/// The state: one host call. `None`: it is of a layout that this code does not know.
pub(crate) fn state<S: SharedData>(
    shared: &mut S,
    issuer: &str,
) -> Result<Option<State>, S::Error> {
    let bytes = shared.get(&state_key(issuer))?.map(|(bytes, _)| bytes);
    Ok(State::decode(&bytes.unwrap_or_default()))
}

/// Changes the state; `step` says what it becomes, or that it stays. `None`: nothing changed,
/// because it stays, is of another layout, or others were faster at every attempt.
pub(crate) fn change<S: SharedData, R>(
    shared: &mut S,
    issuer: &str,
    mut step: impl FnMut(State) -> Option<(State, R)>,
) -> Result<Option<R>, S::Error> {
    let changed = swap(shared, &state_key(issuer), |bytes| {
        match State::decode(bytes).and_then(&mut step) {
            Some((state, answer)) => Swap::Write(state.encode(), Some(answer)),
            None => Swap::Keep(None),
        }
    })?;
    Ok(changed.flatten())
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    #[test]
    fn a_state_reads_as_it_was_written_and_a_cut_one_does_not() {
        let current = Current {
            number: 8,
            second_area: true,
            origin: Origin([9; 32]),
            confirmed_ms: 123_456,
            etag: "W/\"ü\"".to_owned(),
        };
        for current in [None, Some(current)] {
            let state = State { last: 9, current };
            let bytes = state.encode();
            assert_eq!(State::decode(&bytes), Some(state.clone()));
            for cut in 1..bytes.len() {
                assert_ne!(State::decode(&bytes[..cut]), Some(state.clone()), "{cut}");
            }
        }
    }

    #[test]
    fn what_cannot_be_a_state_is_none() {
        let right = State {
            last: 1,
            current: Some(Current {
                number: 1,
                second_area: false,
                origin: Origin([0; 32]),
                confirmed_ms: 0,
                etag: "t".to_owned(),
            }),
        }
        .encode();
        for (place, wrong) in [(0, 2), (17, 2), (right.len() - 1, 0xff)] {
            let mut bytes = right.clone();
            bytes[place] = wrong;
            assert_eq!(State::decode(&bytes), None, "byte {place}");
        }
        let long = [right, vec![b'x'; MAX_ETAG_BYTES]].concat();
        assert_eq!(State::decode(&long), None);
    }
}
