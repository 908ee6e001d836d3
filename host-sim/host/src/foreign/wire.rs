//! Protobuf messages of guests: only what the arguments of foreign functions are made of.

/// How deep groups may lie in each other, as in Protobuf's own reader.
const GROUP_DEPTH: usize = 100;

/// A message, read once; of a field that comes again the last value counts.
#[derive(Debug, Default)]
pub(crate) struct Message<'a> {
    numbers: Vec<(u64, u64)>,
    bytes: Vec<(u64, &'a [u8])>,
}

impl<'a> Message<'a> {
    /// Reads a message; `None` if it is none. Fields of other kinds are passed over.
    pub(crate) fn read(mut bytes: &'a [u8]) -> Option<Self> {
        let mut message = Message::default();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes)?;
            let (field, kind) = (tag >> 3, tag & 7);
            if field == 0 {
                return None;
            }
            match kind {
                0 => message.numbers.push((field, varint(&mut bytes)?)),
                2 => message.bytes.push((field, length_delimited(&mut bytes)?)),
                _ => skip(&mut bytes, field, kind, 0)?,
            }
        }
        Some(message)
    }

    /// A number, 0 if it is not there.
    pub(crate) fn number(&self, field: u64) -> u64 {
        let found = self.numbers.iter().rev().find(|(name, _)| *name == field);
        found.map_or(0, |(_, value)| *value)
    }

    /// Bytes, none if they are not there.
    pub(crate) fn bytes(&self, field: u64) -> &'a [u8] {
        let found = self.bytes.iter().rev().find(|(name, _)| *name == field);
        found.map_or(&[], |(_, value)| *value)
    }

    /// Text; a message with a text that is not UTF-8 is none.
    pub(crate) fn text(&self, field: u64) -> Option<&'a str> {
        std::str::from_utf8(self.bytes(field)).ok()
    }
}

/// Writes a field with bytes, also one with none.
pub(crate) fn put(out: &mut Vec<u8>, field: u8, bytes: &[u8]) {
    out.push(field << 3 | 2);
    let mut length = bytes.len();
    while length >= 0x80 {
        out.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(bytes);
}

/// Writes a field with bytes; an empty one is left out.
pub(crate) fn put_bytes(out: &mut Vec<u8>, field: u8, bytes: &[u8]) {
    if !bytes.is_empty() {
        put(out, field, bytes);
    }
}

/// Writes a field with `true`.
pub(super) fn put_true(out: &mut Vec<u8>, field: u8) {
    out.extend_from_slice(&[field << 3, 1]);
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..70).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f).checked_shl(shift).unwrap_or(0);
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

fn length_delimited<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = varint(bytes)?;
    take(bytes, usize::try_from(length).ok()?)
}

fn skip(bytes: &mut &[u8], field: u64, kind: u64, depth: usize) -> Option<()> {
    match kind {
        0 => varint(bytes).map(|_| ()),
        1 => take(bytes, 8).map(|_| ()),
        2 => length_delimited(bytes).map(|_| ()),
        5 => take(bytes, 4).map(|_| ()),
        3 if depth < GROUP_DEPTH => loop {
            let tag = varint(bytes)?;
            match (tag >> 3, tag & 7) {
                (0, _) => return None,
                (end, 4) => return (end == field).then_some(()),
                (inner, kind) => skip(bytes, inner, kind, depth + 1)?,
            }
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let length = match bytes.len() {
            short if short < 0x80 => vec![short as u8],
            long => vec![(long & 0x7f) as u8 | 0x80, (long >> 7) as u8],
        };
        [&[number << 3 | 2], &length[..], bytes].concat()
    }

    #[test]
    fn fields_are_found_and_the_last_counts() {
        let long = vec![7; 300];
        let bytes = [
            field(1, b"a"),
            vec![0x10, 5],
            field(3, &long),
            field(1, b"b"),
        ]
        .concat();
        let message = Message::read(&bytes).unwrap();
        assert_eq!(message.text(1), Some("b"));
        assert_eq!(message.number(2), 5);
        assert_eq!(message.bytes(3), long);
        assert_eq!((message.number(9), message.bytes(9)), (0, &b""[..]));
    }

    #[test]
    fn fields_of_other_kinds_are_passed_over() {
        let fixed = [&[0x0d][..], &[0; 4], &[0x09], &[0; 8]].concat();
        let group = [0x0b, 0x10, 1, 0x1b, 0x1c, 0x0c];
        let bytes = [&fixed[..], &group, &field(1, b"a")].concat();
        assert_eq!(Message::read(&bytes).unwrap().text(1), Some("a"));
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for bytes in [
            &b"\xff\xff"[..],
            b"\xff",
            b"\x0c",
            b"\x00\x00",
            b"\x0a\x05abc",
            b"\x0d\x00",
            b"\x0f",
            b"\x0b\x14",
        ] {
            assert!(Message::read(bytes).is_none(), "{bytes:?}");
        }
        assert!(Message::read(b"").is_some());
        let deep = [0x0b; GROUP_DEPTH + 2];
        assert!(Message::read(&deep).is_none());
    }

    #[test]
    fn text_that_is_not_utf_8_is_none() {
        assert_eq!(Message::read(&field(1, b"\xff")).unwrap().text(1), None);
    }
}
