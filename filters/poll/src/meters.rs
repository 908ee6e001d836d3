//! What the statistics say of the table of keys.

use std::time::Duration;

use dragoman_keys::Current;
use dragoman_sdk::host::{Metric, MetricKind, Metrics, millis};
use dragoman_sdk::{HostResult, Root};

/// How a poll ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The table is what it was.
    Unchanged,
    /// A new table is in force.
    Replaced,
    /// There was a table that cannot be used.
    Refused,
    /// There was none.
    Failed,
}

/// Metrics of one thread; the values are the process's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meters {
    keys: Metric,
    age_s: Metric,
    revoked: Metric,
    polls: [Metric; 4],
}

impl Meters {
    pub(crate) fn define(cx: &mut Root<'_>) -> HostResult<Self> {
        let mut counter = |name| cx.define_metric(MetricKind::Counter, name);
        let polls = [
            counter("dragoman_key_table_polls;outcome=unchanged")?,
            counter("dragoman_key_table_polls;outcome=replaced")?,
            counter("dragoman_key_table_polls;outcome=refused")?,
            counter("dragoman_key_table_polls;outcome=failed")?,
        ];
        Ok(Self {
            polls,
            revoked: cx.define_metric(MetricKind::Counter, "dragoman_keys_revoked")?,
            keys: cx.define_metric(MetricKind::Gauge, "dragoman_keys")?,
            age_s: cx.define_metric(MetricKind::Gauge, "dragoman_key_table_age_seconds")?,
        })
    }

    /// Number of keys, and seconds since the control plane last said that they hold.
    pub(crate) fn show(
        &self,
        cx: &mut Root<'_>,
        current: &Current,
        now: Duration,
    ) -> HostResult<()> {
        let age_ms = millis(now).saturating_sub(current.confirmed_ms);
        cx.record_metric(self.keys, u64::from(current.keys))?;
        cx.record_metric(self.age_s, age_ms / 1000)
    }

    pub(crate) fn polled(&self, cx: &mut Root<'_>, outcome: Outcome) -> HostResult<()> {
        let [unchanged, replaced, refused, failed] = self.polls;
        let metric = match outcome {
            Outcome::Unchanged => unchanged,
            Outcome::Replaced => replaced,
            Outcome::Refused => refused,
            Outcome::Failed => failed,
        };
        cx.increment_metric(metric, 1)
    }

    pub(crate) fn revoked(&self, cx: &mut Root<'_>, keys: usize) -> HostResult<()> {
        match i64::try_from(keys) {
            Ok(0) => Ok(()),
            keys => cx.increment_metric(self.revoked, keys.unwrap_or(i64::MAX)),
        }
    }
}
