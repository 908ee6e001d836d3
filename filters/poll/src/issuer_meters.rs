//! What the statistics say of an issuer's key set.

use dragoman_sdk::host::{Metric, MetricKind, Metrics};
use dragoman_sdk::{HostResult, Root};

use crate::meters::Outcome;

/// Metrics of one thread; the values are the process's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IssuerMeters {
    keys: Metric,
    age_s: Metric,
    polls: [Metric; 4],
}

impl IssuerMeters {
    pub(crate) fn define(cx: &mut Root<'_>, issuer: &str) -> HostResult<Self> {
        let mut polls = |outcome| {
            let name = format!("dragoman_issuer_key_polls;issuer={issuer};outcome={outcome}");
            cx.define_metric(MetricKind::Counter, &name)
        };
        let polls = [
            polls("unchanged")?,
            polls("replaced")?,
            polls("refused")?,
            polls("failed")?,
        ];
        let mut gauge = |name| {
            let name = format!("{name};issuer={issuer}");
            cx.define_metric(MetricKind::Gauge, &name)
        };
        Ok(Self {
            polls,
            keys: gauge("dragoman_issuer_keys")?,
            age_s: gauge("dragoman_issuer_key_age_seconds")?,
        })
    }

    /// Milliseconds since the issuer last said that its set holds.
    pub(crate) fn age(&self, cx: &mut Root<'_>, age_ms: u64) -> HostResult<()> {
        cx.record_metric(self.age_s, age_ms / 1000)
    }

    /// Number of usable keys, those included that left the set and are still good.
    pub(crate) fn keys(&self, cx: &mut Root<'_>, keys: usize) -> HostResult<()> {
        cx.record_metric(self.keys, keys as u64)
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
}
