//! What the crate asks of shared data, and the one way it changes a key.

/// Tokens are never this: setting with it succeeds only where the key is absent.
pub const ABSENT: u32 = u32::MAX;

/// Most attempts at one change. Each round of a race has a winner, so this serves as many threads
/// as collide in lock-step; two threads that do nothing but change one key were seen to lose about
/// half of their attempts, and half to the power of 64 is never. A lost attempt costs about 1 µs.
pub const MAX_TRIES: u32 = 64;

/// The host's shared data: a map that all threads see, without expiry, removal or listing.
pub trait SharedData {
    /// A call that the host did not answer.
    type Error;

    /// Value and token of a key; `None` where it was never set. A key set to an empty value is
    /// there: it counts as deleted, but has a token.
    ///
    /// # Errors
    /// When the host fails.
    fn get(&mut self, key: &str) -> Result<Option<(Vec<u8>, u32)>, Self::Error>;

    /// Sets a key whose token still is `cas`, or one that is absent, whatever `cas` is. `false`:
    /// somebody else was faster, and nothing has changed.
    ///
    /// # Errors
    /// When the host fails.
    fn set(&mut self, key: &str, value: &[u8], cas: u32) -> Result<bool, Self::Error>;
}

/// What a step of [`swap`] makes of the value it was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Swap<R> {
    /// Leaves it, and answers this.
    Keep(R),
    /// Replaces it if nobody else has changed it meanwhile, and then answers this.
    Write(Vec<u8>, R),
}

/// Changes one key by compare-and-swap. `step` is shown the value (empty for a key that is absent
/// or deleted) and runs again whenever somebody else was faster, so it must have no effects of its
/// own. `None`: all [`MAX_TRIES`] attempts were lost, and nothing has changed.
///
/// # Errors
/// When the host fails; it is then unknown whether the last change was made.
pub fn swap<S: SharedData, R>(
    shared: &mut S,
    key: &str,
    mut step: impl FnMut(&[u8]) -> Swap<R>,
) -> Result<Option<R>, S::Error> {
    for _ in 0..MAX_TRIES {
        let (old, cas) = shared.get(key)?.unwrap_or((Vec::new(), ABSENT));
        match step(&old) {
            Swap::Keep(answer) => return Ok(Some(answer)),
            Swap::Write(new, answer) => {
                if shared.set(key, &new, cas)? {
                    return Ok(Some(answer));
                }
            }
        }
    }
    Ok(None)
}

/// The value of a key, empty for one that is absent or deleted.
pub(crate) fn value<S: SharedData>(shared: &mut S, key: &str) -> Result<Vec<u8>, S::Error> {
    Ok(shared.get(key)?.map(|(value, _)| value).unwrap_or_default())
}
