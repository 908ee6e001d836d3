//! What one thread knows of an issuer's keys.

use dragoman_slots::SharedData;

use crate::bounds::{FRESH_MS, WANT_EVERY_MS};
use crate::publish::read_set;
use crate::state::{Origin, state};
use crate::wanted::want;

/// What a look found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// No set was read yet, so nobody knows the keys.
    NotReady,
    /// The set is the one of the look before.
    Same,
    /// Another set is in force; these are its keys.
    Changed(Vec<u8>),
}

/// Looks whether another set is in force. One per thread and issuer.
#[derive(Debug)]
pub struct Looker {
    issuer: String,
    origin: Origin,
    /// Number of the set that was seen last.
    number: Option<u64>,
    /// When the state was read, in ms.
    read_ms: Option<u64>,
    /// When the mark was set, in ms.
    wanted_ms: Option<u64>,
}

impl Looker {
    /// For the keys that this issuer has there.
    #[must_use]
    pub fn new(issuer: &str, origin: Origin) -> Self {
        Self {
            issuer: issuer.to_owned(),
            origin,
            number: None,
            read_ms: None,
            wanted_ms: None,
        }
    }

    /// Looks, unless it looked less than [`FRESH_MS`] ago: one host call, and another one for a new
    /// set. Without a set it looks each time: who waits for the first one should not wait longer.
    /// `now_ms` never goes back.
    ///
    /// # Errors
    /// When the host fails.
    pub fn look<S: SharedData>(&mut self, shared: &mut S, now_ms: u64) -> Result<Seen, S::Error> {
        let fresh = |read_ms: u64| now_ms.saturating_sub(read_ms) < FRESH_MS;
        if self.number.is_some() && self.read_ms.is_some_and(fresh) {
            return Ok(Seen::Same);
        }
        let current = state(shared, &self.issuer)?.and_then(|state| state.current);
        self.read_ms = Some(now_ms);
        let current = current.filter(|current| current.origin == self.origin);
        let seen = match (current, self.number) {
            (Some(current), number) if number != Some(current.number) => {
                let keys = read_set(shared, &self.issuer, &current)?;
                // Only while yet another set takes over it is not there: the next look finds that.
                keys.map(|keys| (current.number, keys))
            }
            _ => None,
        };
        Ok(match (seen, self.number) {
            (Some((number, keys)), _) => {
                self.number = Some(number);
                Seen::Changed(keys)
            }
            (None, Some(_)) => Seen::Same,
            (None, None) => Seen::NotReady,
        })
    }

    /// Asks for a refresh, unless this thread did so less than [`WANT_EVERY_MS`] ago.
    ///
    /// # Errors
    /// When the host fails.
    pub fn want<S: SharedData>(&mut self, shared: &mut S, now_ms: u64) -> Result<(), S::Error> {
        let recent = |wanted_ms: u64| now_ms.saturating_sub(wanted_ms) < WANT_EVERY_MS;
        if self.wanted_ms.is_some_and(recent) {
            return Ok(());
        }
        self.wanted_ms = Some(now_ms);
        want(shared, &self.issuer, now_ms)
    }
}
