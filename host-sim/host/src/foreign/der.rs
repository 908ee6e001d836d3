//! The outside of keys: where a DER element ends, and what stands in a PEM block.

use base64ct::{Base64, Encoding};

const SEQUENCE: u8 = 0x30;

/// The first element, without what follows it: Envoy does not look at that either.
pub(super) fn first_element(bytes: &[u8]) -> Option<&[u8]> {
    let (tag, first) = (bytes.first()?, usize::from(*bytes.get(1)?));
    if *tag != SEQUENCE {
        return None;
    }
    let (head, length) = if first < 0x80 {
        (2, first)
    } else {
        let count = first & 0x7f;
        let digits = bytes
            .get(2..2 + count)
            .filter(|_| (1..=4).contains(&count))?;
        let length = digits
            .iter()
            .fold(0_usize, |length, digit| (length << 8) | usize::from(*digit));
        (2 + count, length)
    };
    bytes.get(..head.checked_add(length)?)
}

/// Label and content of the first block with one of these labels.
pub(super) fn pem_block<'a>(text: &[u8], labels: &[&'a str]) -> Option<(&'a str, Vec<u8>)> {
    let text = std::str::from_utf8(text).ok()?;
    let starts = labels.iter().filter_map(|label| {
        let begin = format!("-----BEGIN {label}-----");
        let at = text.find(&begin)?;
        Some((at, *label, at + begin.len()))
    });
    let (_, label, from) = starts.min()?;
    let rest = text.get(from..)?;
    let body = rest.get(..rest.find(&format!("-----END {label}-----"))?)?;
    let digits: String = body
        .chars()
        .filter(|digit| !digit.is_whitespace())
        .collect();
    Some((label, Base64::decode_vec(&digits).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_ends_where_its_length_says() {
        assert_eq!(first_element(b"\x30\x02abxx"), Some(&b"\x30\x02ab"[..]));
        let long = [&b"\x30\x81\x80"[..], &[1; 0x80], b"xx"].concat();
        assert_eq!(first_element(&long).map(<[u8]>::len), Some(3 + 0x80));
        for bytes in [
            &b""[..],
            b"\x30",
            b"junk",
            b"\x30\x05ab",
            b"\x30\x80ab",
            b"\x30\x85\0\0\0\0\x01a",
        ] {
            assert_eq!(first_element(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn a_block_is_found_between_other_text() {
        let text = b"hello\n-----BEGIN A-----\nYWJj\n-----END A-----\nmore";
        assert_eq!(pem_block(text, &["B", "A"]), Some(("A", b"abc".to_vec())));
        assert_eq!(pem_block(text, &["B"]), None);
        assert_eq!(
            pem_block(b"-----BEGIN A-----\n!!\n-----END A-----", &["A"]),
            None
        );
        assert_eq!(pem_block(b"-----BEGIN A-----\nYWJj", &["A"]), None);
    }
}
