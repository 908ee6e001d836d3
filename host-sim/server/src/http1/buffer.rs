//! Bytes between a socket and a codec: read and not yet decoded, or encoded and not yet written.

/// A growing buffer that is eaten from the front.
#[derive(Debug, Default)]
pub struct Buffer {
    data: Vec<u8>,
    start: usize,
}

/// Eaten bytes are moved out once there are this many: moving at each read would cost a copy of
/// the rest, never moving would keep a whole body.
const COMPACT_BYTES: usize = 64 * 1024;

impl Buffer {
    /// What is not eaten yet.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.data.get(self.start..).unwrap_or_default()
    }

    /// How much is not eaten yet, in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.data.len().saturating_sub(self.start)
    }

    /// Nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds bytes at the end.
    pub fn push(&mut self, bytes: &[u8]) {
        self.data.extend_from_slice(bytes);
    }

    /// For an encoder, which only adds at the end.
    pub fn end(&mut self) -> &mut Vec<u8> {
        &mut self.data
    }

    /// Eats `count` bytes, at most all.
    pub fn consume(&mut self, count: usize) {
        self.start = self.data.len().min(self.start.saturating_add(count));
        if self.start == self.data.len() {
            self.data.clear();
            self.start = 0;
            self.data.shrink_to(COMPACT_BYTES);
        } else if self.start >= COMPACT_BYTES {
            self.data.drain(..self.start);
            self.start = 0;
        }
    }
}
