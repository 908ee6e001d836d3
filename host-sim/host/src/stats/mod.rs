//! Envoy's own statistics, as far as what they count is modelled.
//!
//! What requests do is counted in the engine; what only sockets know (connections, bytes, waiting
//! for a connection) is counted by whoever drives it, through [`Stats::add`].

mod count;
mod histogram;
mod names;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use crate::config::Bootstrap;

pub(crate) use histogram::Histogram;
pub(crate) use text::sanitize;

/// Whose a statistic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'a> {
    /// A connection manager, by its `stat_prefix`; `async-client` is the router of callouts.
    Http(&'a str),
    /// A cluster, by its name.
    Cluster(&'a str),
    /// A listener, by its address with `_` for the last colon.
    Listener(&'a str),
    /// A listener's connection manager, by address and `stat_prefix`.
    ListenerHttp(&'a str, &'a str),
    /// A plugin, by its name.
    Plugin(&'a str),
    /// Anything else: `server`, `listener_manager`, `cluster_manager`.
    Other(&'a str),
}

/// Where callouts are counted.
pub(crate) const CALLOUTS: &str = "async-client";

/// Statistics of one scope by name.
type Table = BTreeMap<&'static str, u64>;

/// Answers of a cluster by group (`""`, `external.`, `internal.`, `retry.`) and status.
type Answers = BTreeMap<(&'static str, u16), u64>;

/// All statistics of a process. Values go on when the configuration changes; a name is never
/// forgotten, and there are as many as listeners, clusters and plugins ever configured.
#[derive(Debug, Default)]
pub struct Stats {
    tables: BTreeMap<String, Table>,
    answers: BTreeMap<String, Answers>,
    times: BTreeMap<String, Histogram>,
}

impl Scope<'_> {
    /// What stands before the name.
    fn prefix(self) -> String {
        match self {
            Scope::Http(prefix) => format!("http.{prefix}."),
            Scope::Cluster(name) => format!("cluster.{name}."),
            Scope::Listener(address) => format!("listener.{address}."),
            Scope::ListenerHttp(address, prefix) => format!("listener.{address}.http.{prefix}."),
            Scope::Plugin(name) => format!("wasm.{name}."),
            Scope::Other(name) => format!("{name}."),
        }
    }
}

impl Stats {
    /// Adds to a statistic.
    pub fn add(&mut self, scope: Scope<'_>, name: &'static str, by: u64) {
        let value = self.value(scope, name);
        *value = value.saturating_add(by);
    }

    /// Takes from a gauge.
    pub fn take(&mut self, scope: Scope<'_>, name: &'static str, by: u64) {
        let value = self.value(scope, name);
        *value = value.saturating_sub(by);
    }

    /// Sets a gauge.
    pub fn set(&mut self, scope: Scope<'_>, name: &'static str, to: u64) {
        *self.value(scope, name) = to;
    }

    fn value(&mut self, scope: Scope<'_>, name: &'static str) -> &mut u64 {
        let table = self.tables.entry(scope.prefix()).or_default();
        table.entry(name).or_default()
    }

    /// A cluster's answer, or one that the router gave for it.
    pub(crate) fn answered(&mut self, cluster: &str, group: &'static str, status: u16) {
        let answers = self.answers.entry(cluster.to_owned()).or_default();
        *answers.entry((group, status)).or_default() += 1;
    }

    /// A time in milliseconds.
    pub(crate) fn took(&mut self, scope: Scope<'_>, name: &str, milliseconds: u64) {
        let times = self.times.entry(scope.prefix() + name).or_default();
        times.observe(milliseconds);
    }

    /// Everything of a configuration is there from now on.
    pub(crate) fn declare(&mut self, config: &Bootstrap) {
        for listener in &config.listeners {
            let (address, http) = (listener_name(listener.address), &listener.http.stat_prefix);
            self.declare_all(Scope::Http(http), &names::HTTP);
            self.declare_all(Scope::Listener(&address), &names::LISTENER);
            self.declare_all(Scope::ListenerHttp(&address, http), &names::LISTENER_HTTP);
        }
        self.declare_all(Scope::Http(CALLOUTS), &names::CALLOUTS);
        for cluster in config.clusters.values() {
            let scope = Scope::Cluster(&cluster.name);
            // Connections over HTTP/2 are not counted, so nothing is said of them.
            let counted = |name: &&&str| cluster.http2.is_none() || !names::is_of_connections(name);
            let counted: Vec<_> = names::CLUSTER.iter().filter(counted).copied().collect();
            self.declare_all(scope, &counted);
            let members = cluster.endpoints.len() as u64;
            if *self.value(scope, "membership_total") != members {
                self.add(scope, "membership_change", 1);
            }
            self.set(scope, "membership_total", members);
            self.set(scope, "membership_healthy", members);
        }
        for plugin in plugins(config) {
            self.declare_all(Scope::Plugin(plugin), &names::PLUGIN);
        }
        let clusters = config.clusters.len() as u64;
        self.set(Scope::Other("cluster_manager"), "active_clusters", clusters);
        let listeners = config.listeners.len() as u64;
        let manager = Scope::Other("listener_manager");
        self.set(manager, "total_listeners_active", listeners);
    }

    fn declare_all(&mut self, scope: Scope<'_>, names: &[&'static str]) {
        let table = self.tables.entry(scope.prefix()).or_default();
        for name in names {
            table.entry(name).or_default();
        }
    }
}

/// A listener's address in a name: the colons of IPv6 and of the port become `_`.
#[must_use]
pub fn listener_name(address: std::net::SocketAddr) -> String {
    address.to_string().replace(':', "_")
}

fn plugins(config: &Bootstrap) -> BTreeSet<&str> {
    let downstream = config
        .listeners
        .iter()
        .flat_map(|listener| &listener.http.filters);
    let upstream = config
        .clusters
        .values()
        .flat_map(|cluster| &cluster.upstream_filters);
    downstream
        .chain(upstream)
        .map(|plugin| plugin.name.as_str())
        .collect()
}
