//! What only sockets know, counted under Envoy's names.

use host_sim_host::Process;
use host_sim_host::config::Listener;
use host_sim_host::stats::{Scope, Stats, listener_name};

/// Names under which the connections of a listener are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The address, as it stands in a name.
    address: String,
    /// `stat_prefix`.
    prefix: String,
}

/// Who ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The other side.
    Remote,
    /// This process.
    Local,
}

impl Names {
    /// Of a listener.
    #[must_use]
    pub fn of(listener: &Listener) -> Self {
        Names {
            address: listener_name(listener.address),
            prefix: listener.http.stat_prefix.clone(),
        }
    }

    fn scopes(&self) -> [Scope<'_>; 2] {
        [Scope::Http(&self.prefix), Scope::Listener(&self.address)]
    }

    /// A client has connected.
    pub fn connected(&self, process: &Process) {
        let mut stats = process.stats();
        for scope in self.scopes() {
            stats.add(scope, "downstream_cx_total", 1);
            stats.add(scope, "downstream_cx_active", 1);
        }
    }

    /// Its first byte has come: the codec is made.
    pub fn spoke(&self, process: &Process) {
        self.add(process, "downstream_cx_http1_total", 1);
        self.add(process, "downstream_cx_http1_active", 1);
    }

    /// Its connection has ended.
    pub fn ended(&self, process: &Process, by: By, active: bool, spoke: bool) {
        let mut stats = process.stats();
        for scope in self.scopes() {
            stats.add(scope, "downstream_cx_destroy", 1);
            stats.take(scope, "downstream_cx_active", 1);
        }
        let scope = Scope::Http(&self.prefix);
        if spoke {
            stats.take(scope, "downstream_cx_http1_active", 1);
        }
        let (name, with_request) = match by {
            By::Remote => (
                "downstream_cx_destroy_remote",
                "downstream_cx_destroy_remote_active_rq",
            ),
            By::Local => (
                "downstream_cx_destroy_local",
                "downstream_cx_destroy_local_active_rq",
            ),
        };
        stats.add(scope, name, 1);
        if active {
            stats.add(scope, with_request, 1);
            stats.add(scope, "downstream_cx_destroy_active_rq", 1);
        }
    }

    /// Counts for the connection manager.
    pub fn add(&self, process: &Process, name: &'static str, by: u64) {
        process.stats().add(Scope::Http(&self.prefix), name, by);
    }
}

/// A connection to a worker is begun for a request that waits for it.
pub fn opened(process: &Process, cluster: &str) {
    let mut stats = process.stats();
    for name in [
        "upstream_cx_total",
        "upstream_cx_http1_total",
        "upstream_cx_active",
        "upstream_rq_pending_total",
        "upstream_rq_pending_active",
    ] {
        stats.add(Scope::Cluster(cluster), name, 1);
    }
}

/// The request that waited for a connection has it, or will not get it.
pub fn waited(stats: &mut Stats, cluster: &str) {
    stats.take(Scope::Cluster(cluster), "upstream_rq_pending_active", 1);
}

/// There is no connection to a worker; `awaited`: a request still waited for it.
pub fn not_connected(process: &Process, cluster: &str, timed_out: bool, awaited: bool) {
    let mut stats = process.stats();
    let scope = Scope::Cluster(cluster);
    if awaited {
        waited(&mut stats, cluster);
        stats.add(scope, "upstream_rq_pending_failure_eject", 1);
    }
    stats.add(scope, "upstream_cx_connect_fail", 1);
    if timed_out {
        stats.add(scope, "upstream_cx_connect_timeout", 1);
    }
    let by = if timed_out { By::Local } else { By::Remote };
    destroyed(&mut stats, cluster, by, false);
}

/// The request that waited for a connection has gone.
pub fn cancelled(process: &Process, cluster: &str) {
    let mut stats = process.stats();
    waited(&mut stats, cluster);
    stats.add(Scope::Cluster(cluster), "upstream_rq_cancelled", 1);
}

/// A connection to a worker has ended.
pub fn destroyed(stats: &mut Stats, cluster: &str, by: By, active: bool) {
    let scope = Scope::Cluster(cluster);
    stats.take(scope, "upstream_cx_active", 1);
    stats.add(scope, "upstream_cx_destroy", 1);
    let (name, with_request) = match by {
        By::Remote => (
            "upstream_cx_destroy_remote",
            "upstream_cx_destroy_remote_with_active_rq",
        ),
        By::Local => (
            "upstream_cx_destroy_local",
            "upstream_cx_destroy_local_with_active_rq",
        ),
    };
    stats.add(scope, name, 1);
    if active {
        stats.add(scope, with_request, 1);
        stats.add(scope, "upstream_cx_destroy_with_active_rq", 1);
    }
}
