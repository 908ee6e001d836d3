//! Times as clients read them.

/// Seconds for `Retry-After`: rounded up, at least 1, so that who waits so long does not come too
/// early.
#[must_use]
pub fn retry_after_s(ms: u64) -> u64 {
    ms.div_ceil(1_000).max(1)
}

/// A time as in `x-ratelimit-reset-requests` and `x-ratelimit-reset-tokens`: `20ms`, `1s`,
/// `1.5s`, `6m0s`, `1h0m0s`.
///
/// OpenAI's guide to rate limits shows `1s` and `6m0s`, its API answers `12ms` too: the form in
/// which Go writes durations, which clients in Go read back with `time.ParseDuration`.
#[must_use]
pub fn reset_text(ms: u64) -> String {
    if (1..1_000).contains(&ms) {
        return format!("{ms}ms");
    }
    let (all_s, ms) = (ms / 1_000, ms % 1_000);
    let (all_m, s) = (all_s / 60, all_s % 60);
    let (h, m) = (all_m / 60, all_m % 60);
    let fraction = match ms {
        0 => String::new(),
        ms => format!(".{ms:03}").trim_end_matches('0').to_owned(),
    };
    match (h, m) {
        (0, 0) => format!("{s}{fraction}s"),
        (0, m) => format!("{m}m{s}{fraction}s"),
        (h, m) => format!("{h}h{m}m{s}{fraction}s"),
    }
}
