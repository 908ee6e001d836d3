//! Circuit breakers: how many requests and retries a cluster has, over all workers.

use std::collections::BTreeMap;

use crate::config::Cluster;

/// Counts of one cluster.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    requests: u32,
    retries: u32,
}

/// Counts by cluster.
#[derive(Debug, Default)]
pub(crate) struct Breakers {
    clusters: BTreeMap<String, Counts>,
}

impl Breakers {
    /// Counts one more request, unless the cluster has as many as it may.
    pub(crate) fn take_request(&mut self, cluster: &Cluster) -> bool {
        let counts = self.clusters.entry(cluster.name.clone()).or_default();
        let free = counts.requests < cluster.max_requests;
        counts.requests += u32::from(free);
        free
    }

    /// Gives back what [`Breakers::take_request`] took.
    pub(crate) fn give_request(&mut self, cluster: &str) {
        if let Some(counts) = self.clusters.get_mut(cluster) {
            counts.requests = counts.requests.saturating_sub(1);
        }
    }

    /// Counts one more retry, unless the cluster has as many as it may.
    pub(crate) fn take_retry(&mut self, cluster: &Cluster) -> bool {
        let counts = self.clusters.entry(cluster.name.clone()).or_default();
        let free = counts.retries < cluster.max_retries;
        counts.retries += u32::from(free);
        free
    }

    /// Gives back what [`Breakers::take_retry`] took.
    pub(crate) fn give_retry(&mut self, cluster: &str) {
        if let Some(counts) = self.clusters.get_mut(cluster) {
            counts.retries = counts.retries.saturating_sub(1);
        }
    }
}
