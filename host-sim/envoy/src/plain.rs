//! What plain text in YAML 1.1 and durations in protobuf's JSON mean.

use std::time::Duration;

use crate::tree::Value;

/// A boolean in one of the spellings of YAML 1.1.
pub fn boolean(text: &str) -> Option<bool> {
    let lower = text.to_ascii_lowercase();
    let capital = text.starts_with(|c: char| c.is_ascii_uppercase()) && text[1..] == lower[1..];
    let one_case = *text == lower || text == text.to_ascii_uppercase() || capital;
    match &*lower {
        "true" | "yes" | "on" | "y" if one_case => Some(true),
        "false" | "no" | "off" | "n" if one_case => Some(false),
        _ => None,
    }
}

/// What Envoy takes plain text for, if not for a string.
pub fn other_meaning(text: &str) -> Option<&'static str> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(text, "" | "~" | "null" | "Null" | "NULL") {
        Some("null")
    } else if boolean(text).is_some() {
        Some("a boolean")
    } else if unsigned.starts_with("0x")
        || (!unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()))
    {
        Some("a number")
    } else {
        None
    }
}

/// Whether this key of a map names the field: Envoy takes `stat_prefix` and `statPrefix` for the same.
pub fn is_name(name: &str, key: &str) -> bool {
    name == key || {
        let plain = name.chars().filter(|character| *character != '_');
        !key.contains('_')
            && key.contains(|character: char| character.is_ascii_uppercase())
            && plain.eq(key.chars().map(|character| character.to_ascii_lowercase()))
    }
}

/// Whether it is the plain text that stands for a field which is not given.
pub fn is_null(value: &Value) -> bool {
    matches!(value, Value::Plain(text) if other_meaning(text) == Some("null"))
}

/// Largest duration that protobuf has, in seconds.
const MAX_DURATION_S: u64 = 315_576_000_000;

/// Seconds with up to nine decimals and an `s`.
pub fn duration(text: &str) -> Option<Duration> {
    let (whole, fraction) = match text.strip_suffix('s')?.split_once('.') {
        Some((whole, fraction)) => (whole, fraction),
        None => (text.strip_suffix('s')?, "0"),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let seconds: u64 = whole
        .parse()
        .ok()
        .filter(|seconds| *seconds <= MAX_DURATION_S)?;
    let nanoseconds: u32 = format!("{fraction:0<9}").parse().ok()?;
    Some(Duration::new(seconds, nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_seconds_with_a_fraction() {
        assert_eq!(duration("0.1s"), Some(Duration::from_millis(100)));
        assert_eq!(duration("600s"), Some(Duration::from_secs(600)));
        assert_eq!(duration("0s"), Some(Duration::ZERO));
        for text in [
            "",
            "s",
            "1",
            "1ms",
            "-1s",
            ".5s",
            "1.s",
            "1.0000000001s",
            "1e3s",
            "999999999999s",
        ] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn plain_text_that_yaml_1_1_reads_otherwise_is_no_string() {
        for text in [
            "n", "NO", "Yes", "off", "true", "~", "", "null", "5", "-7", "0x1f", "010",
        ] {
            assert!(other_meaning(text).is_some(), "{text}");
        }
        for text in ["nO", "yES", "nay", "1.5", "0.1s", "5 apples", "-"] {
            assert!(other_meaning(text).is_none(), "{text}");
        }
    }
}
