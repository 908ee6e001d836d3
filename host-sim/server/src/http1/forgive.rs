//! What Envoy's codec forgives: runs of blanks in the request line, and header lines that go on in the
//! next line.

use std::borrow::Cow;

/// A head, or the beginning of one, as it would have come from a stricter client.
#[must_use]
pub fn straighten(head: &[u8]) -> Cow<'_, [u8]> {
    let first_end = head.iter().position(|byte| *byte == b'\n');
    let (line, fields) = head.split_at(first_end.map_or(head.len(), |feed| feed + 1));
    if is_straight(line) && !fields.windows(2).any(is_fold) {
        return Cow::Borrowed(head);
    }
    let mut straight = Vec::with_capacity(head.len());
    request_line(line, &mut straight);
    unfold(fields, &mut straight);
    Cow::Owned(straight)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_fold(pair: &[u8]) -> bool {
    matches!(pair, [b'\n', b' ' | b'\t'])
}

/// A line that begins with a blank is no better without it.
fn is_straight(line: &[u8]) -> bool {
    let text = line.trim_ascii_end();
    let ends_in_blank = line.get(text.len()).copied().is_some_and(is_blank);
    let runs = |pair: &[u8]| pair.iter().all(|byte| is_blank(*byte));
    let crooked = ends_in_blank || text.contains(&b'\t') || text.windows(2).any(runs);
    !crooked || line.first().copied().is_none_or(is_blank)
}

fn request_line(line: &[u8], out: &mut Vec<u8>) {
    if is_straight(line) {
        return out.extend_from_slice(line);
    }
    let words: Vec<&[u8]> = line
        .trim_ascii_end()
        .split(|byte| is_blank(*byte))
        .filter(|word| !word.is_empty())
        .collect();
    out.extend_from_slice(&words.join(&b' '));
    if line.ends_with(b"\n") {
        out.extend_from_slice(b"\r\n");
    }
}

/// The line break goes, the blanks after it stay.
fn unfold(fields: &[u8], out: &mut Vec<u8>) {
    for (index, byte) in fields.iter().enumerate() {
        let rest = fields.get(index..).unwrap_or_default();
        let breaks = rest.strip_prefix(b"\r").unwrap_or(rest);
        if !breaks.get(..2).is_some_and(is_fold) || !matches!(byte, b'\r' | b'\n') {
            out.push(*byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crooked_head_becomes_straight() {
        for (crooked, straight) in [
            (
                "GET  /\t HTTP/1.1 \r\na: 1\r\n",
                "GET / HTTP/1.1\r\na: 1\r\n",
            ),
            (
                "GET / HTTP/1.1\r\na: 1\r\n\t 2 \n  3\r\nb: 4\r\n\r\n",
                "GET / HTTP/1.1\r\na: 1\t 2   3\r\nb: 4\r\n\r\n",
            ),
            (
                "GET / HTTP/1.1\r\na:\r\n 1\r\n\r\n",
                "GET / HTTP/1.1\r\na: 1\r\n\r\n",
            ),
        ] {
            assert_eq!(
                straighten(crooked.as_bytes()).escape_ascii().to_string(),
                straight.as_bytes().escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn a_straight_head_is_left_alone() {
        for head in [
            "",
            "\n",
            "GET / HTTP/1.1",
            "GET / HTTP/1.1\r\na: 1  2\r\n\r\n",
            "GET / HTTP/1.1\na:  1\n\n",
            " GET  / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\n a: 1\r\n\r\n",
        ] {
            assert!(
                matches!(straighten(head.as_bytes()), Cow::Borrowed(_)),
                "{head:?}"
            );
        }
    }
}
