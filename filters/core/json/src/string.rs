//! Strings: where they end, and what they say.

use std::borrow::Cow;

use memchr::memchr2;

use crate::error::ScanError;

const ENDS_TOO_EARLY: &str = "it ends too early";

/// The first byte after the string whose opening quote is at `start`, and whether it has escapes.
///
/// Control characters are looked for in the whole string at once and not between escapes: a prompt
/// has one escape every few words, and short runs gain little from vectors.
pub(crate) fn end(body: &[u8], start: usize) -> Result<(usize, bool), ScanError> {
    let found = closing_quote(body, start + 1);
    let end = match &found {
        Ok((quote, _)) => *quote,
        Err((at, _)) => *at,
    };
    refuse_control(body.get(start..end).unwrap_or_default(), start)?;
    match found {
        Ok((quote, escaped)) => Ok((quote + 1, escaped)),
        Err((_, ENDS_TOO_EARLY)) => malformed(body.len(), ENDS_TOO_EARLY),
        Err((at, reason)) => malformed(at, reason),
    }
}

fn malformed<T>(offset: usize, reason: &'static str) -> Result<T, ScanError> {
    Err(ScanError::Malformed { offset, reason })
}

/// Where the closing quote is and whether escapes precede it, or what keeps it from being found.
fn closing_quote(body: &[u8], start: usize) -> Result<(usize, bool), (usize, &'static str)> {
    let mut at = start;
    let mut escaped = false;
    loop {
        let rest = body.get(at..).unwrap_or_default();
        let run = memchr2(b'"', b'\\', rest).ok_or((body.len(), ENDS_TOO_EARLY))?;
        at += run;
        if rest.get(run) == Some(&b'"') {
            return Ok((at, escaped));
        }
        let behind = rest.get(run + 1..).unwrap_or_default();
        let (_, length) = escape(behind).map_err(|reason| (at, reason))?;
        at += 1 + length;
        escaped = true;
    }
}

/// Control characters must be escaped. The fold has no early exit, so it compiles to vector code.
fn refuse_control(string: &[u8], start: usize) -> Result<(), ScanError> {
    let any = string.iter().fold(false, |any, byte| any | (*byte < b' '));
    if !any {
        return Ok(());
    }
    let place = string.iter().position(|byte| *byte < b' ').unwrap_or(0);
    malformed(start + place, "a control character in a string")
}

/// What the escape says whose backslash stands right before `rest`, and how many bytes of `rest`
/// belong to it.
///
/// Half a surrogate pair is refused: it is no character, so readers replace, drop or cut there,
/// and would see another text than the gateway.
fn escape(rest: &[u8]) -> Result<(char, usize), &'static str> {
    let character = match rest.first() {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(rest.get(1..).unwrap_or_default()),
        Some(_) => return Err("an unknown escape"),
        None => return Err(ENDS_TOO_EARLY),
    };
    Ok((character, 1))
}

/// The same for what follows `\u`.
fn unicode_escape(rest: &[u8]) -> Result<(char, usize), &'static str> {
    const LONE: &str = "half a surrogate pair";
    let unit = hex(rest)?;
    if let Some(character) = char::from_u32(unit) {
        return Ok((character, 5));
    }
    let low = match rest.get(4..) {
        Some([b'\\', b'u', low @ ..]) => hex(low)?,
        Some([] | [b'\\']) => return Err(ENDS_TOO_EARLY),
        _ => return Err(LONE),
    };
    if !(0xD800..0xDC00).contains(&unit) || !(0xDC00..0xE000).contains(&low) {
        return Err(LONE);
    }
    let scalar = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    Ok((char::from_u32(scalar).ok_or(LONE)?, 11))
}

fn hex(rest: &[u8]) -> Result<u32, &'static str> {
    let mut value = 0;
    for place in 0..4 {
        let byte = *rest.get(place).ok_or(ENDS_TOO_EARLY)?;
        let digit = char::from(byte).to_digit(16);
        value = (value << 4) | digit.ok_or("an unknown escape")?;
    }
    Ok(value)
}

/// What a string says. `content` stands between the quotes and was checked by [`end`].
pub(crate) fn decode(content: &str, escaped: bool) -> Cow<'_, str> {
    if !escaped {
        return Cow::Borrowed(content);
    }
    let mut out = String::with_capacity(content.len());
    let mut rest = content;
    while let Some((plain, behind)) = rest.split_once('\\') {
        out.push_str(plain);
        let Ok((character, length)) = escape(behind.as_bytes()) else {
            break;
        };
        out.push(character);
        rest = behind.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}
