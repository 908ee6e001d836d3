//! Lists of pairs on the wire: a count, the lengths, then names and values each followed by NUL.

/// A list of pairs.
pub type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// Envoy takes no more bytes from a guest; a longer list counts as empty.
const MAX_BYTES: usize = 1024 * 1024;
/// Envoy takes no more pairs from a guest; a longer list counts as empty.
const MAX_PAIRS: usize = 1024;

/// Reads a list. What is too long, or does not end exactly at its size, is an empty list, without an
/// error: that is what Envoy does.
#[must_use]
pub fn read(bytes: &[u8]) -> Pairs {
    if bytes.len() > MAX_BYTES {
        Vec::new()
    } else {
        parse(bytes).unwrap_or_default()
    }
}

fn parse(bytes: &[u8]) -> Option<Pairs> {
    let number = |at: usize| {
        let bytes: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    let count = number(0)?;
    if count > MAX_PAIRS {
        return None;
    }
    let mut at = 4 + count * 8;
    let mut text = |length: usize| {
        let end = at.checked_add(length)?;
        let text = bytes.get(at..end)?.to_vec();
        at = end + 1;
        (bytes.get(end) == Some(&0)).then_some(text)
    };
    let mut pairs = Vec::with_capacity(count);
    for index in 0..count {
        let (name, value) = (number(4 + index * 8)?, number(8 + index * 8)?);
        pairs.push((text(name)?, text(value)?));
    }
    (at == bytes.len()).then_some(pairs)
}

/// Writes a list; an empty one is no bytes at all.
#[must_use]
pub fn write(pairs: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    if pairs.is_empty() {
        return Vec::new();
    }
    let number = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    let mut bytes = number(pairs.len()).to_vec();
    for (name, value) in pairs {
        bytes.extend_from_slice(&number(name.len()));
        bytes.extend_from_slice(&number(value.len()));
    }
    for text in pairs.iter().flat_map(|(name, value)| [name, value]) {
        bytes.extend_from_slice(text);
        bytes.push(0);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some_pairs(count: usize) -> Pairs {
        (0..count)
            .map(|index| (format!("k{index}").into_bytes(), vec![b'v'; index % 3]))
            .collect()
    }

    #[test]
    fn what_is_written_can_be_read() {
        for count in [0, 1, 2, MAX_PAIRS] {
            assert_eq!(read(&write(&some_pairs(count))), some_pairs(count));
        }
    }

    #[test]
    fn a_list_that_is_too_long_is_empty() {
        assert!(read(&write(&some_pairs(MAX_PAIRS + 1))).is_empty());
        assert!(read(&write(&[(b"k".to_vec(), vec![b'v'; MAX_BYTES])])).is_empty());
    }

    #[test]
    fn a_list_that_does_not_end_at_its_size_is_empty() {
        let bytes = write(&some_pairs(3));
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_empty(), "{end}");
        }
        assert!(read(&[&bytes[..], b"x"].concat()).is_empty());
    }
}
