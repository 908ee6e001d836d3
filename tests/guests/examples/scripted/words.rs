//! The words of a step: bytes, numbers and pairs out of text, and bytes into text.

use crate::vm;

/// Longest value that a log line shows whole.
const SHOWN: usize = 400;

/// The bytes of a word: `%ff` is a byte, `7*a` is seven of them, `$name` what a step kept, `-` nothing.
pub fn bytes(word: &str) -> Vec<u8> {
    if word == "-" {
        return Vec::new();
    }
    if let Some(name) = word.strip_prefix('$') {
        return vm::kept(name);
    }
    if let Some((times, rest)) = word.split_once('*')
        && let Ok(times) = times.parse::<usize>()
    {
        return bytes(rest).repeat(times);
    }
    unescape(word.as_bytes())
}

fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let code = after
            .get(..2)
            .and_then(|code| std::str::from_utf8(code).ok());
        let byte = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                out.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
    }
    out
}

/// A number: decimal, `0x..`, or kept; 0 if it is none.
pub fn number(word: &str) -> i64 {
    let text = String::from_utf8_lossy(&bytes(word)).into_owned();
    match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).unwrap_or(0),
        None => text.parse().unwrap_or(0),
    }
}

/// Pairs in the ABI's form: `a=1;b=2`; `30#a=1` is thirty times that pair; `raw:..` are bytes as they stand.
pub fn pairs(word: &str) -> Vec<u8> {
    if let Some(raw) = word.strip_prefix("raw:") {
        return bytes(raw);
    }
    let mut all = Vec::new();
    for item in word
        .split(';')
        .filter(|item| !item.is_empty() && *item != "-")
    {
        let (times, item) = match item.split_once('#') {
            Some((times, rest)) if times.parse::<usize>().is_ok() => (number(times), rest),
            _ => (1, item),
        };
        let (name, value) = item.split_once('=').unwrap_or((item, "-"));
        let pair = (bytes(name), bytes(value));
        all.extend(std::iter::repeat_n(
            pair,
            usize::try_from(times).unwrap_or(0),
        ));
    }
    let mut out = size(all.len());
    for (name, value) in &all {
        out.extend(size(name.len()));
        out.extend(size(value.len()));
    }
    for (name, value) in &all {
        out.extend_from_slice(name);
        out.push(0);
        out.extend_from_slice(value);
        out.push(0);
    }
    out
}

fn size(length: usize) -> Vec<u8> {
    u32::try_from(length)
        .unwrap_or(u32::MAX)
        .to_le_bytes()
        .to_vec()
}

/// Pairs of the host's as text; the bytes if they are none.
pub fn pairs_text(all: &[u8]) -> String {
    read_pairs(all).unwrap_or_else(|| quoted(all))
}

fn read_pairs(all: &[u8]) -> Option<String> {
    let u32_at = |at: usize| {
        let bytes: [u8; 4] = all.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    if all.is_empty() {
        return Some("nothing".to_owned());
    }
    let count = u32_at(0)?;
    let mut text = format!("{count}");
    let mut at = 4 + count * 8;
    for index in 0..count {
        let (name, value) = (u32_at(4 + index * 8)?, u32_at(8 + index * 8)?);
        let name_end = at + name;
        let value_end = name_end + 1 + value;
        text.push_str(if index == 0 { " {" } else { ", " });
        text.push_str(&escaped(all.get(at..name_end)?));
        text.push_str(": ");
        text.push_str(&escaped(all.get(name_end + 1..value_end)?));
        at = value_end + 1;
    }
    if count > 0 {
        text.push('}');
    }
    (at == all.len()).then_some(text)
}

/// Bytes in quotes; a long value is cut and its length told.
pub fn quoted(bytes: &[u8]) -> String {
    format!("\"{}\"", escaped(bytes))
}

/// Bytes that fit into a line.
pub fn escaped(bytes: &[u8]) -> String {
    let shown = bytes.get(..SHOWN).unwrap_or(bytes);
    let mut text = shown.escape_ascii().to_string();
    if bytes.len() > SHOWN {
        text.push_str(&format!("... {} bytes", bytes.len()));
    }
    text
}
