//! Times, dates and sizes as people write them.

use std::time::Duration;

use host_sim_envoy::yaml::{At, Read};

use super::{MAX_BODY_BYTES, MAX_TIME, fault};

/// Units of time, longest name first where one is the beginning of another.
const UNITS: [(&str, u64); 6] = [
    ("ms", 1_000_000),
    ("us", 1_000),
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
];

/// Units of size.
const SIZES: [(&str, usize); 5] = [
    ("KiB", 1024),
    ("MiB", 1024 * 1024),
    ("kB", 1000),
    ("MB", 1_000_000),
    ("B", 1),
];

/// A time like `30s`, `1.5s`, `200ms` or `1h30m`.
pub fn time(at: &At<'_>) -> Read<Duration> {
    let text = at.text()?;
    let time = parse_time(text).ok_or_else(|| {
        fault(
            at,
            format!("{text}: must be a time like 200ms, 30s, 1.5s, 24h or 1h30m"),
        )
    })?;
    if time > MAX_TIME {
        return Err(fault(at, format!("{text}: must be at most 366d")));
    }
    Ok(time)
}

/// A number of bytes like `32768`, `32KiB` or `12MB`.
pub fn size(at: &At<'_>) -> Read<usize> {
    let text = at.text()?;
    let (digits, unit) = match text.find(|c: char| !c.is_ascii_digit()) {
        None => (text, 1),
        Some(end) => {
            let (digits, name) = text.split_at(end);
            let unit = SIZES.iter().find(|(known, _)| *known == name.trim());
            (digits, unit.map_or(0, |(_, unit)| *unit))
        }
    };
    let size = digits
        .parse::<usize>()
        .ok()
        .and_then(|size| size.checked_mul(unit))
        .filter(|_| unit > 0)
        .ok_or_else(|| {
            fault(
                at,
                format!("{text}: must be a number of bytes like 32768, 32KiB or 12MB"),
            )
        })?;
    if size > MAX_BODY_BYTES {
        return Err(fault(
            at,
            format!("{text}: must be at most {MAX_BODY_BYTES} bytes"),
        ));
    }
    Ok(size)
}

/// A date like `2026-03-01T12:00:00Z`, as time since 1970.
pub fn date(at: &At<'_>) -> Read<Duration> {
    let text = at.text()?;
    parse_date(text).ok_or_else(|| {
        fault(
            at,
            format!("{text}: must be a date in UTC like 2026-03-01T12:00:00Z, from 1970 to 9999"),
        )
    })
}

fn parse_time(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut rest = text;
    let mut nanoseconds = 0_u64;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(end);
        let (name, unit) = UNITS.iter().find(|(name, _)| tail.starts_with(name))?;
        nanoseconds = nanoseconds.checked_add(scaled(number, *unit)?)?;
        rest = &tail[name.len()..];
    }
    (!text.is_empty()).then(|| Duration::from_nanos(nanoseconds))
}

/// A decimal number of units, exact or not at all.
fn scaled(number: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let parts = 10_u64.pow(u32::try_from(fraction.len()).ok()?);
    let fraction = fraction.parse::<u64>().ok()?.checked_mul(unit)?;
    let whole = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    (fraction % parts == 0)
        .then(|| whole.checked_add(fraction / parts))
        .flatten()
}

fn parse_date(text: &str) -> Option<Duration> {
    let (date, clock) = text.strip_suffix('Z')?.split_once('T')?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    let leap = |year: u64| {
        (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400)
    };
    let february = if leap(year) { 29 } else { 28 };
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = *lengths.get(usize::try_from(month).ok()?.checked_sub(1)?)?;
    if year < 1970 || day == 0 || day > length || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let years: u64 = (1970..year)
        .map(|year| if leap(year) { 366 } else { 365 })
        .sum();
    let months: u64 = lengths.iter().take(usize::try_from(month).ok()? - 1).sum();
    let days = years + months + day - 1;
    Some(Duration::from_secs(
        days * 86_400 + hour * 3_600 + minute * 60 + second,
    ))
}

fn numbers(text: &str, between: char, widths: [usize; 3]) -> Option<[u64; 3]> {
    let mut parts = text.split(between);
    let mut numbers = [0; 3];
    for (number, width) in numbers.iter_mut().zip(widths) {
        let part = parts.next().filter(|part| part.len() == width)?;
        let digits = part.bytes().all(|byte| byte.is_ascii_digit());
        *number = part.parse().ok().filter(|_| digits)?;
    }
    parts.next().is_none().then_some(numbers)
}

/// A time as this format writes it, to the microsecond: `1.5s`, `200ms`.
pub fn show_time(time: Duration) -> String {
    let micros = time.as_micros();
    if micros.is_multiple_of(1_000_000) {
        format!("{}s", micros / 1_000_000)
    } else if micros < 1_000_000 && micros.is_multiple_of(1000) {
        format!("{}ms", micros / 1000)
    } else if micros < 1000 {
        format!("{micros}us")
    } else {
        let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
        format!("{}s", text.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_numbers_with_units() {
        for (text, milliseconds) in [
            ("0", 0),
            ("0s", 0),
            ("200ms", 200),
            ("1.5s", 1500),
            ("2m", 120_000),
            ("1h30m", 5_400_000),
            ("24h", 86_400_000),
            ("1d", 86_400_000),
            ("1s500ms", 1500),
        ] {
            let expected = Duration::from_millis(milliseconds);
            assert_eq!(parse_time(text), Some(expected), "{text}");
        }
        assert_eq!(parse_time("5us"), Some(Duration::from_micros(5)));
        for text in [
            "",
            "1",
            "s",
            "1.s",
            ".5s",
            "-1s",
            "1 s",
            "1.5",
            "1sec",
            "1e3s",
            "1..5s",
            "99999999999999d",
            "0.0000000001s",
        ] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }

    #[test]
    fn dates_count_from_1970() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2026-01-01T00:00:00Z", 1_767_225_600),
            ("2030-03-17T17:46:40Z", 1_900_000_000),
        ] {
            assert_eq!(
                parse_date(text),
                Some(Duration::from_secs(seconds)),
                "{text}"
            );
        }
        for text in [
            "2026-01-01",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-1-01T00:00:00Z",
            "1969-12-31T23:59:59Z",
        ] {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_is_shown_as_it_is_written() {
        for text in ["0s", "200ms", "1.5s", "7us", "1.000001s", "86400s"] {
            let time = parse_time(text).unwrap();
            assert_eq!(show_time(time), text);
        }
    }
}
