//! What the heads of requests and responses have in common.

use host_sim_host::io::Headers;

use super::buffer::Buffer;

/// Looks for the end of a head without reading any byte twice.
#[derive(Debug, Default)]
pub struct HeadScan {
    seen: usize,
    whole_lines: usize,
}

/// What a [`HeadScan`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The head ends here; the empty line is counted in.
    End(usize),
    /// A line more than at the last look, but not the end: worth a check for errors. The lines
    /// that are whole end here.
    Line(usize),
    /// Nothing new.
    Nothing,
}

impl HeadScan {
    /// Goes on from where the last look ended.
    pub fn look(&mut self, input: &Buffer) -> Found {
        let bytes = input.bytes();
        let whole_before = self.whole_lines;
        while let Some(offset) = bytes
            .get(self.seen..)
            .and_then(|rest| rest.iter().position(|byte| *byte == b'\n'))
        {
            let feed = self.seen + offset;
            self.seen = feed + 1;
            self.whole_lines = self.seen;
            let line = bytes.get(..feed).unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.last() == Some(&b'\n') {
                return Found::End(self.seen);
            }
        }
        self.seen = bytes.len();
        if self.whole_lines > whole_before {
            Found::Line(self.whole_lines)
        } else {
            Found::Nothing
        }
    }
}

/// Header lines as they came, names in lower case.
#[must_use]
pub fn headers_of(lines: &[httparse::Header<'_>]) -> Headers {
    lines
        .iter()
        .map(|line| {
            (
                line.name.to_ascii_lowercase().into_bytes(),
                line.value.to_vec(),
            )
        })
        .collect()
}

/// What the header lines say about the length of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Nothing.
    Unsaid,
    /// `content-length`.
    Bytes(u64),
    /// `transfer-encoding: chunked`.
    Chunked,
}

/// The header lines contradict each other or themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadLength {
    /// Both `content-length` and `transfer-encoding`.
    Both,
    /// A `transfer-encoding` other than `chunked`, or several.
    Encoding,
    /// A `content-length` that is no number, or several, equal or not.
    Number,
}

/// Reads both header names.
///
/// # Errors
/// The lines contradict each other or themselves.
pub fn length_of(headers: &Headers) -> Result<Length, BadLength> {
    let encodings: Vec<&[u8]> = values(headers, b"transfer-encoding").collect();
    let lengths: Vec<&[u8]> = values(headers, b"content-length").collect();
    match (encodings.as_slice(), lengths.as_slice()) {
        ([], []) => Ok(Length::Unsaid),
        ([encoding], []) if encoding.eq_ignore_ascii_case(b"chunked") => Ok(Length::Chunked),
        (_, []) => Err(BadLength::Encoding),
        ([], [length]) => number(length).map(Length::Bytes).ok_or(BadLength::Number),
        ([], _) => Err(BadLength::Number),
        _ => Err(BadLength::Both),
    }
}

/// `connection: close` is among the lines.
#[must_use]
pub fn asks_to_close(headers: &Headers) -> bool {
    has_token(headers, b"connection", b"close")
}

/// One of the comma-separated values of `name` is `token`.
#[must_use]
pub fn has_token(headers: &Headers, name: &[u8], token: &[u8]) -> bool {
    values(headers, name).any(|value| {
        value
            .split(|byte| *byte == b',')
            .any(|item| item.trim_ascii().eq_ignore_ascii_case(token))
    })
}

/// All values of a name.
pub fn values<'a>(headers: &'a Headers, name: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    headers
        .iter()
        .filter(move |(key, _)| key == name)
        .map(|(_, value)| value.as_slice())
}

/// Digits only: no sign, no list.
fn number(text: &[u8]) -> Option<u64> {
    if !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}
