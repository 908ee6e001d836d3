//! Reading fixed layouts; every read says `None` past the end.

/// What is left of a record that is being read.
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Reads these bytes from their beginning.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next so many bytes.
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(length)?;
        self.0 = tail;
        Some(head)
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        self.take(N)?.first_chunk()
    }

    /// One byte.
    pub fn u8(&mut self) -> Option<u8> {
        self.array().copied().map(u8::from_le_bytes)
    }

    /// Two bytes, little-endian.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().copied().map(u16::from_le_bytes)
    }

    /// Four bytes, little-endian.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().copied().map(u32::from_le_bytes)
    }

    /// Eight bytes, little-endian.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().copied().map(u64::from_le_bytes)
    }

    /// Whether everything was read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was not read yet.
    #[must_use]
    pub fn rest(self) -> &'a [u8] {
        self.0
    }
}
