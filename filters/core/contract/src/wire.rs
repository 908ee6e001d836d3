//! Fixed little-endian layout of the records: numbers as they are, strings with a `u16` length.
//! What travels between filters is described in the modules beside this one; `dragoman-config` keeps
//! the records of polled keys in it.

use std::time::Duration;

/// Version of all layouts, the first byte of each record. A record of another version, a cut one or
/// one with a tail decodes to `None`, which readers treat as "nothing was published".
const VERSION: u8 = 1;

/// Writes a record.
pub struct Writer(Vec<u8>);

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

impl Writer {
    /// A record that has its version and nothing else yet.
    #[must_use]
    pub fn new() -> Self {
        Self(vec![VERSION])
    }

    /// One byte.
    pub fn u8(&mut self, value: u8) -> &mut Self {
        self.0.push(value);
        self
    }

    /// Two bytes.
    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Four bytes.
    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Eight bytes.
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Whole milliseconds.
    pub fn duration(&mut self, value: Duration) -> &mut Self {
        self.u64(u64::try_from(value.as_millis()).unwrap_or(u64::MAX))
    }

    /// A flag and four bytes.
    pub fn option_u32(&mut self, value: Option<u32>) -> &mut Self {
        self.u8(u8::from(value.is_some()))
            .u32(value.unwrap_or_default())
    }

    /// Strings come from a checked configuration, where none is longer than a `u16` can say; a
    /// longer one would be cut at that length rather than break the record.
    pub fn str(&mut self, value: &str) -> &mut Self {
        let bytes = value.as_bytes();
        let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
        self.u16(length);
        self.0
            .extend_from_slice(bytes.get(..usize::from(length)).unwrap_or(bytes));
        self
    }

    /// A flag and the strings, of which there are none without a list; at most as many as a `u16`
    /// can say.
    pub fn option_list<T: AsRef<str>>(&mut self, list: Option<&[T]>) -> &mut Self {
        self.u8(u8::from(list.is_some()));
        let list = list.unwrap_or_default();
        self.u16(u16::try_from(list.len()).unwrap_or(u16::MAX));
        for value in list.iter().take(usize::from(u16::MAX)) {
            self.str(value.as_ref());
        }
        self
    }

    /// Bytes without their length.
    pub fn bytes(&mut self, value: &[u8]) -> &mut Self {
        self.0.extend_from_slice(value);
        self
    }

    /// The record.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads a record; every read says `None` past the end.
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// The record in these bytes, if it is of this version.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first()?;
        (*version == VERSION).then_some(Self(rest))
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(length)?;
        self.0 = tail;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    /// One byte.
    #[must_use]
    pub fn u8(&mut self) -> Option<u8> {
        Some(u8::from_le_bytes(self.array()?))
    }

    /// Two bytes.
    #[must_use]
    pub fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.array()?))
    }

    /// Four bytes.
    #[must_use]
    pub fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.array()?))
    }

    /// A flag and four bytes, which count only where the flag is set.
    #[must_use]
    pub fn option_u32(&mut self) -> Option<Option<u32>> {
        let given = self.u8()? != 0;
        let value = self.u32()?;
        Some(given.then_some(value))
    }

    /// Eight bytes.
    #[must_use]
    pub fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.array()?))
    }

    /// Whole milliseconds.
    #[must_use]
    pub fn duration(&mut self) -> Option<Duration> {
        self.u64().map(Duration::from_millis)
    }

    /// A string with its length.
    #[must_use]
    pub fn str(&mut self) -> Option<&'a str> {
        let length = self.u16()?;
        std::str::from_utf8(self.take(usize::from(length))?).ok()
    }

    /// A flag and strings, which are a list only where the flag is set.
    #[must_use]
    pub fn option_list(&mut self) -> Option<Option<Vec<&'a str>>> {
        let given = self.u8()? != 0;
        let mut list = Vec::new();
        for _ in 0..self.u16()? {
            list.push(self.str()?);
        }
        Some(given.then_some(list))
    }

    /// A flag and 32 bytes, which count only where the flag is set. `None` past the end.
    #[must_use]
    pub fn sha256(&mut self) -> Option<Option<[u8; 32]>> {
        let given = self.u8()? != 0;
        let digest = self.array()?;
        Some(given.then_some(digest))
    }

    /// `Some` exactly when all was read: a record with a tail is not one of ours.
    #[must_use]
    pub fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}
