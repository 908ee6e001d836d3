//! Which member of a cluster an attempt goes to.

use std::collections::VecDeque;
use std::net::SocketAddr;

use crate::config::{Cluster, LoadBalancing};
use crate::engine::Engine;
use crate::headers;
use crate::stream::StreamKey;

impl Engine {
    /// The member for the next attempt of a request; `None` is no healthy host.
    pub(super) fn choose_host(&mut self, key: StreamKey, cluster: &Cluster) -> Option<SocketAddr> {
        self.choose_by(key, cluster, &cluster.load_balancing)
    }

    fn choose_by(
        &mut self,
        key: StreamKey,
        cluster: &Cluster,
        policy: &LoadBalancing,
    ) -> Option<SocketAddr> {
        match policy {
            LoadBalancing::None => None,
            LoadBalancing::RoundRobin => {
                let next = self.round_robin.entry(cluster.name.clone()).or_default();
                let host = cluster
                    .endpoints
                    .get(*next % cluster.endpoints.len().max(1))
                    .copied();
                *next = next.wrapping_add(1);
                host
            }
            LoadBalancing::OverrideHost { headers, fallback } => {
                match self.next_listed(key, cluster, headers) {
                    Some(host) => Some(host),
                    None => self.choose_by(key, cluster, fallback),
                }
            }
        }
    }

    /// The next address of the request's list that is a member. The list is read once, at the first
    /// selection; what is no member, or no address, is used up on the way.
    fn next_listed(
        &mut self,
        key: StreamKey,
        cluster: &Cluster,
        names: &[String],
    ) -> Option<SocketAddr> {
        let stream = self.streams.get_mut(&key)?;
        let request = &stream.request_headers;
        let list = stream.router.override_list.get_or_insert_with(|| {
            let lists = names.iter().filter_map(|name| headers::text(request, name));
            lists
                .flat_map(|list| list.split(','))
                .map(|entry| entry.trim().parse().ok())
                .collect::<VecDeque<_>>()
        });
        while let Some(entry) = list.pop_front() {
            if let Some(address) = entry.filter(|address| cluster.endpoints.contains(address)) {
                return Some(address);
            }
        }
        None
    }
}
