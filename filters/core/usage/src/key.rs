//! A key, as far as it can matter.

use crate::counts::LONGEST_NAME;

/// The bytes of a key as it is written, up to the longest that matters. One with escapes is not
/// decoded and so is another name.
#[derive(Debug, Default)]
pub(crate) struct Key {
    bytes: [u8; LONGEST_NAME],
    /// Of the whole key.
    length: usize,
}

impl Key {
    /// The next bytes of the key.
    pub(crate) fn push(&mut self, said: &[u8]) {
        let end = self.length.saturating_add(said.len());
        if let Some(place) = self.bytes.get_mut(self.length..end) {
            place.copy_from_slice(said);
        }
        self.length = end;
    }

    /// The key; empty if it is longer than any that matters.
    pub(crate) fn name(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}
