//! The real clock in the two forms that the simulator wants.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use host_sim_host::io::Now;

/// Reads the time; all threads of a process share one beginning.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// Monotonic time counts from here.
    #[must_use]
    pub fn start() -> Self {
        Clock {
            start: Instant::now(),
        }
    }

    /// Both clocks.
    #[must_use]
    pub fn now(&self) -> Now {
        Now {
            monotonic: self.start.elapsed(),
            wall: wall(),
        }
    }

    /// When a monotonic time comes.
    #[must_use]
    pub fn instant(&self, monotonic: Duration) -> Instant {
        self.start + monotonic
    }
}

/// Since 1970; a clock before that reads as 1970.
fn wall() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

/// `2026-11-29 22:10:11.123`, in UTC.
#[must_use]
pub fn date_text(wall: Duration) -> String {
    let days = wall.as_secs() / 86_400;
    let seconds = wall.as_secs() % 86_400;
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!(
        "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{:03}",
        wall.subsec_millis()
    )
}

/// Year, month and day of a day since 1970-01-01; months are counted from March so that the
/// leap day comes last.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_over_leap_days_and_centuries() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00.000"),
            (951_782_400, "2000-02-29 00:00:00.000"),
            (951_868_800, "2000-03-01 00:00:00.000"),
            (1_709_164_799, "2024-02-28 23:59:59.000"),
            (1_709_251_199, "2024-02-29 23:59:59.000"),
            (4_107_542_400, "2100-03-01 00:00:00.000"),
        ] {
            assert_eq!(date_text(Duration::from_secs(seconds)), text);
        }
    }
}
