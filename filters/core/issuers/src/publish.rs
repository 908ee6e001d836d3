//! The writer's side: which set is in force, and how another one comes into force.

use dragoman_slots::{Reader, SharedData, Swap, swap};

use crate::bounds::{MAX_ETAG_BYTES, MAX_SET_BYTES};
use crate::state::{Current, Origin, change, set_key, state};

/// Number of a set, in front of its bytes.
const NUMBER_BYTES: usize = 8;

/// A set that is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// Its number.
    pub number: u64,
    /// The keys, as they were published.
    pub keys: Vec<u8>,
    /// Its tag; `None`: it has none.
    pub etag: Option<String>,
    /// When the issuer last said that it holds, in ms of the process's monotonic clock.
    pub confirmed_ms: u64,
}

/// A set that is to come into force.
#[derive(Clone, Copy, Debug)]
pub struct Publish<'a> {
    /// The keys, at most [`MAX_SET_BYTES`].
    pub keys: &'a [u8],
    /// Its tag, at most [`MAX_ETAG_BYTES`]; empty: it has none.
    pub etag: &'a str,
    /// Now, in ms of the process's monotonic clock.
    pub now_ms: u64,
}

/// The set in force that comes from there: two host calls.
///
/// # Errors
/// When the host fails.
pub fn published<S: SharedData>(
    shared: &mut S,
    issuer: &str,
    origin: Origin,
) -> Result<Option<Published>, S::Error> {
    let state = state(shared, issuer)?;
    let current = state.and_then(|state| state.current);
    let Some(current) = current.filter(|current| current.origin == origin) else {
        return Ok(None);
    };
    let keys = read_set(shared, issuer, &current)?;
    Ok(keys.map(|keys| Published {
        number: current.number,
        keys,
        etag: Some(current.etag).filter(|etag| !etag.is_empty()),
        confirmed_ms: current.confirmed_ms,
    }))
}

/// Brings a set into force, for everybody at once. `false`: another thread was faster, a bound does
/// not hold, or shared data has a state of another layout.
///
/// # Errors
/// When the host fails.
pub fn publish<S: SharedData>(
    shared: &mut S,
    issuer: &str,
    origin: Origin,
    set: &Publish<'_>,
) -> Result<bool, S::Error> {
    if set.keys.len() > MAX_SET_BYTES || set.etag.len() > MAX_ETAG_BYTES {
        return Ok(false);
    }
    let begun = change(shared, issuer, |mut state| {
        state.last = state.last.checked_add(1)?;
        let current = state.current.as_ref();
        let place = (state.last, current.is_some_and(|set| !set.second_area));
        Some((state, place))
    })?;
    let Some((number, second_area)) = begun else {
        return Ok(false);
    };
    let bytes = [&number.to_le_bytes(), set.keys].concat();
    let written = swap(shared, &set_key(issuer, second_area), |old| {
        if number_of(old).is_some_and(|other| other > number) {
            return Swap::Keep(false);
        }
        Swap::Write(bytes.clone(), true)
    })?;
    if written != Some(true) {
        return Ok(false);
    }
    let committed = change(shared, issuer, |mut state| {
        if state.last != number {
            return None;
        }
        state.current = Some(Current {
            number,
            second_area,
            origin,
            confirmed_ms: set.now_ms,
            etag: set.etag.to_owned(),
        });
        Some((state, ()))
    })?;
    Ok(committed.is_some())
}

/// The issuer says that the set of this number still holds, under this tag if one is given. Whether
/// it is in force.
///
/// # Errors
/// When the host fails.
pub fn confirm<S: SharedData>(
    shared: &mut S,
    issuer: &str,
    number: u64,
    etag: Option<&str>,
    now_ms: u64,
) -> Result<bool, S::Error> {
    let confirmed = change(shared, issuer, |mut state| {
        let current = state.current.as_mut()?;
        if current.number != number {
            return None;
        }
        current.confirmed_ms = current.confirmed_ms.max(now_ms);
        if let Some(etag) = etag.filter(|etag| etag.len() <= MAX_ETAG_BYTES) {
            current.etag = etag.to_owned();
        }
        Some((state, ()))
    })?;
    Ok(confirmed.is_some())
}

/// The bytes of the set in force; `None`: they are another set's.
pub(crate) fn read_set<S: SharedData>(
    shared: &mut S,
    issuer: &str,
    current: &Current,
) -> Result<Option<Vec<u8>>, S::Error> {
    let bytes = shared.get(&set_key(issuer, current.second_area))?;
    let bytes = bytes.map(|(bytes, _)| bytes).unwrap_or_default();
    let is_it = number_of(&bytes) == Some(current.number);
    Ok(bytes
        .get(NUMBER_BYTES..)
        .filter(|_| is_it)
        .map(<[u8]>::to_vec))
}

fn number_of(bytes: &[u8]) -> Option<u64> {
    Reader::new(bytes).u64()
}
