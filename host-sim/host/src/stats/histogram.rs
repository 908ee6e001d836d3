//! A distribution in Envoy's default buckets.

use std::fmt::Write as _;

/// Upper bounds of the buckets.
const BUCKETS: [f64; 19] = [
    0.5,
    1.0,
    5.0,
    10.0,
    25.0,
    50.0,
    100.0,
    250.0,
    500.0,
    1000.0,
    2500.0,
    5000.0,
    10_000.0,
    30_000.0,
    60_000.0,
    300_000.0,
    600_000.0,
    1_800_000.0,
    3_600_000.0,
];

/// How many values were at most so large.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    sum: u64,
}

impl Histogram {
    pub(crate) fn observe(&mut self, value: u64) {
        for (bucket, bound) in self.buckets.iter_mut().zip(BUCKETS) {
            #[expect(clippy::cast_precision_loss, reason = "bounds are far below 2^53")]
            if value as f64 <= bound {
                *bucket += 1;
            }
        }
        self.count += 1;
        self.sum = self.sum.saturating_add(value);
    }

    /// The lines of Prometheus's text format.
    pub(crate) fn write(&self, text: &mut String, family: &str, labels: &str) {
        let comma = if labels.is_empty() { "" } else { "," };
        for (bucket, bound) in self.buckets.iter().zip(BUCKETS) {
            let _ = writeln!(
                text,
                "{family}_bucket{{{labels}{comma}le=\"{bound}\"}} {bucket}"
            );
        }
        let (sum, count) = (self.sum, self.count);
        let _ = writeln!(
            text,
            "{family}_bucket{{{labels}{comma}le=\"+Inf\"}} {count}"
        );
        let _ = writeln!(text, "{family}_sum{{{labels}}} {sum}");
        let _ = writeln!(text, "{family}_count{{{labels}}} {count}");
    }
}
