//! The wire format of Protocol Buffers, as much as it takes to read a message a guest wrote.

/// Groups in groups that are followed, as in Google's reader.
const DEPTH_LIMIT: u32 = 100;
/// Bytes of a number that is longest.
const VARINT_BYTES: usize = 10;

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Varint(u64),
    /// Text, bytes or a message.
    Bytes(&'a [u8]),
    /// Of another form, which no field that is read here has.
    Other,
}

/// All fields with their numbers, in order. `None`: the bytes are no message.
pub(super) fn fields(mut bytes: &[u8]) -> Option<Vec<(u32, Value<'_>)>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let (number, kind) = tag(&mut bytes)?;
        fields.push((number, value(&mut bytes, number, kind, DEPTH_LIMIT)?));
    }
    Some(fields)
}

/// A field of text must be UTF-8.
pub(super) fn text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

fn tag(bytes: &mut &[u8]) -> Option<(u32, u32)> {
    let tag = u32::try_from(varint(bytes)?).ok()?;
    (tag >> 3 != 0).then_some((tag >> 3, tag & 7))
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for index in 0..VARINT_BYTES {
        let byte = take(bytes, 1)?.first().copied()?;
        // The tenth byte holds one bit; what is above it is dropped.
        number |= u64::from(byte & 0x7f)
            .checked_shl(7 * u32::try_from(index).ok()?)
            .unwrap_or_default();
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

fn value<'a>(bytes: &mut &'a [u8], number: u32, kind: u32, depth: u32) -> Option<Value<'a>> {
    match kind {
        0 => Some(Value::Varint(varint(bytes)?)),
        1 => take(bytes, 8).map(|_| Value::Other),
        2 => {
            let length = usize::try_from(varint(bytes)?).ok()?;
            Some(Value::Bytes(take(bytes, length)?))
        }
        3 => group(bytes, number, depth.checked_sub(1)?),
        5 => take(bytes, 4).map(|_| Value::Other),
        _ => None,
    }
}

/// Fields up to the end of the group.
fn group<'a>(bytes: &mut &'a [u8], number: u32, depth: u32) -> Option<Value<'a>> {
    const END: u32 = 4;
    loop {
        match tag(bytes)? {
            (end, END) => return (end == number).then_some(Value::Other),
            (inner, kind) => value(bytes, inner, kind, depth)?,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_all_forms_are_read() {
        let bytes = [
            0x08, 0xac, 0x02, // 1: 300
            0x12, 0x02, b'h', b'i', // 2: "hi"
            0x19, 1, 2, 3, 4, 5, 6, 7, 8, // 3: eight bytes
            0x23, 0x08, 0x01, 0x24, // 4: a group with a number
            0x2d, 1, 2, 3, 4, // 5: four bytes
        ];
        assert_eq!(
            fields(&bytes),
            Some(vec![
                (1, Value::Varint(300)),
                (2, Value::Bytes(b"hi")),
                (3, Value::Other),
                (4, Value::Other),
                (5, Value::Other),
            ])
        );
    }

    #[test]
    fn what_is_no_message_is_none() {
        for bytes in [
            &[0x08][..],      // no value
            &[0x12, 2, b'h'], // too short
            &[0x24],          // the end of no group
            &[0x23, 0x2c],    // the end of another group
            &[0x23, 0x08, 1], // a group without an end
            &[0x00, 0x00],    // field 0
            &[0x0e, 0, 0],    // no such form
            &[0xff; 11],      // a number that does not end
            b"workers",       // names are no messages, as a rule
            &[0x23; 500],     // too deep
        ] {
            assert_eq!(fields(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn some_names_are_messages_by_accident() {
        assert_eq!(fields(b"empty"), Some(vec![(12, Value::Other)]));
        assert_eq!(fields(b""), Some(Vec::new()));
    }
}
