//! Points in time as tokens have them.

use std::time::Duration;

use crate::json::Json;

/// Latest date that is read: the year 9999. Later ones are slips of a unit, such as milliseconds.
const LATEST: Duration = Duration::from_secs(253_402_300_799);

/// When a token is valid, both ends widened by the leeway of its issuer; since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// From then on.
    pub from: Duration,
    /// Until then; at that moment not any more.
    pub until: Duration,
}

impl Window {
    /// Whether a token is valid at this time.
    #[must_use]
    pub fn holds(&self, now: Duration) -> bool {
        self.from <= now && now < self.until
    }
}

/// The time in a `NumericDate`: seconds since 1970, whole or not.
pub(crate) fn numeric_date(value: &Json) -> Option<Duration> {
    let date = match value {
        Json::Whole(seconds) => Duration::from_secs(*seconds),
        Json::Real(seconds) => Duration::try_from_secs_f64(*seconds).ok()?,
        _ => return None,
    };
    (date <= LATEST).then_some(date)
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;
    use crate::json::object;

    fn read(text: &str) -> Option<Duration> {
        let members = object(format!("{{\"exp\":{text}}}").as_bytes()).unwrap();
        numeric_date(members.get("exp").unwrap())
    }

    #[test]
    fn a_date_is_a_number_of_seconds() {
        let millis = Duration::from_millis;
        for (text, expected) in [
            ("0", Some(0)),
            ("1300819380", Some(1_300_819_380_000)),
            ("1300819380.5", Some(1_300_819_380_500)),
            ("1.30081938e9", Some(1_300_819_380_000)),
            ("253402300799", Some(253_402_300_799_000)),
            ("253402300800", None),
            ("1300819380000", None),
            ("1e300", None),
            ("18446744073709551616", None),
            ("-1", None),
            ("-9223372036854775808", None),
            ("-0.5", None),
            ("\"1300819380\"", None),
            ("null", None),
            ("true", None),
            ("[1]", None),
            ("{}", None),
        ] {
            assert_eq!(read(text), expected.map(millis), "{text}");
        }
    }

    #[test]
    fn a_window_is_open_at_its_start_and_closed_at_its_end() {
        let second = Duration::from_secs;
        let window = Window {
            from: second(10),
            until: second(20),
        };
        let at = |now| window.holds(now);
        assert!(at(second(10)) && at(second(20) - Duration::from_nanos(1)));
        assert!(!at(second(20)) && !at(second(10) - Duration::from_nanos(1)));
    }
}
