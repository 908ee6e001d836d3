//! Points in time.

use crate::error::ConfigError;
use crate::raw::Raw;
use crate::read::text;

/// Unix seconds of a time in UTC, written as `2027-01-01T00:00:00Z`: the one form of RFC 3339 that
/// leaves nothing to read differently. From 1970 on.
pub(crate) fn utc(raw: &Raw) -> Result<u64, ConfigError> {
    unix_seconds(text(raw)?)
        .ok_or_else(|| ConfigError::of(raw, "must be a time in UTC such as 2027-01-01T00:00:00Z"))
}

fn unix_seconds(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let in_month = (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
    if year < 1970 || !in_month || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let years: u64 = (1970..year).map(days_of_year).sum();
    let months: u64 = (1..month).map(|month| days_of(year, month)).sum();
    let days = years + months + day - 1;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

/// Three numbers of exactly these many digits.
fn numbers(text: &str, between: char, digits: [usize; 3]) -> Option<[u64; 3]> {
    let mut parts = text.split(between);
    let mut out = [0; 3];
    for (number, digits) in out.iter_mut().zip(digits) {
        let part = parts.next()?;
        if part.len() != digits || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(out)
}

fn days_of_year(year: u64) -> u64 {
    if leap(year) { 366 } else { 365 }
}

fn days_of(year: u64, month: u64) -> u64 {
    match month {
        2 if leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::unix_seconds;

    #[test]
    fn a_time_in_utc_is_read_to_the_second() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1999-12-31T23:59:59Z", 946_684_799),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2024-03-01T00:00:00Z", 1_709_251_200),
            ("2027-01-01T00:00:00Z", 1_798_761_600),
            ("2100-03-01T00:00:00Z", 4_107_542_400),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] {
            assert_eq!(unix_seconds(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn every_other_form_is_refused() {
        for text in [
            "",
            "2027-01-01",
            "2027-01-01T00:00:00",
            "2027-01-01T00:00:00+00:00",
            "2027-01-01T00:00:00.0Z",
            "2027-01-01t00:00:00Z",
            "2027-01-01 00:00:00Z",
            "2027-01-01T00:00:00z",
            "2027-1-01T00:00:00Z",
            "+027-01-01T00:00:00Z",
            "2027-01-01-01T00:00:00Z",
            "2027-00-01T00:00:00Z",
            "2027-13-01T00:00:00Z",
            "2027-02-29T00:00:00Z",
            "2100-02-29T00:00:00Z",
            "2027-04-31T00:00:00Z",
            "2027-01-00T00:00:00Z",
            "2027-01-01T24:00:00Z",
            "2027-01-01T00:60:00Z",
            "2027-01-01T00:00:60Z",
            "1969-12-31T23:59:59Z",
        ] {
            assert_eq!(unix_seconds(text), None, "{text}");
        }
    }
}
