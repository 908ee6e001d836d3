//! Dates from a wall clock, in UTC.

use std::time::Duration;

/// A moment, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Date {
    pub(crate) year: u64,
    /// From 1.
    pub(crate) month: u64,
    /// From 1.
    pub(crate) day: u64,
    pub(crate) hour: u64,
    pub(crate) minute: u64,
    pub(crate) second: u64,
    /// From 0, Sunday.
    pub(crate) weekday: u64,
    pub(crate) nanosecond: u32,
}

/// The moment so long after 1970-01-01T00:00:00Z.
pub(crate) fn date(wall: Duration) -> Date {
    let (days, rest) = (wall.as_secs() / 86_400, wall.as_secs() % 86_400);
    // Years begin in March here, so that the leap day is the last of its year.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    Date {
        year: year_of_era + era * 400 + u64::from(month <= 2),
        month,
        day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
        hour: rest / 3600,
        minute: rest / 60 % 60,
        second: rest % 60,
        weekday: (days + 4) % 7,
        nanosecond: wall.subsec_nanos(),
    }
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`, as in the `date` header.
pub(crate) fn http_date(wall: Duration) -> String {
    const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let Date {
        year,
        month,
        day,
        hour,
        minute,
        second,
        weekday,
        ..
    } = date(wall);
    let name = |names: &'static [&'static str], index: u64| {
        usize::try_from(index)
            .ok()
            .and_then(|index| names.get(index))
            .copied()
            .unwrap_or("")
    };
    let (weekday, month) = (name(&DAYS, weekday), name(&MONTHS, month.saturating_sub(1)));
    format!("{weekday}, {day:02} {month} {year} {hour:02}:{minute:02}:{second:02} GMT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_around_leap_days_and_centuries() {
        for (seconds, expected) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
        ] {
            assert_eq!(http_date(Duration::from_secs(seconds)), expected);
        }
    }
}
