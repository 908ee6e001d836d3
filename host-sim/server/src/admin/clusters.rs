//! `/clusters`, in Envoy's two forms.

use std::fmt::Write as _;
use std::net::SocketAddr;

use host_sim_host::Process;
use serde_json::{Value, json};

/// For programs: the shape of Envoy's `ClusterStatuses`, without the counters of single members, which
/// are not kept.
pub fn document(process: &Process) -> Value {
    let config = process.config();
    let statuses = config.clusters.values().map(|cluster| {
        let hosts = cluster.endpoints.iter().map(|endpoint| {
            json!({
                "address": address(*endpoint),
                "health_status": {"eds_health_status": "HEALTHY"},
                "weight": 1,
                "locality": {},
            })
        });
        let hosts: Vec<Value> = hosts.collect();
        let mut status = json!({
            "name": cluster.name,
            "circuit_breakers": {"thresholds": [{
                "max_connections": cluster.max_connections,
                "max_pending_requests": cluster.max_pending_requests,
                "max_requests": cluster.max_requests,
                "max_retries": cluster.max_retries,
            }]},
            "observability_name": cluster.name,
        });
        // As in Envoy, a cluster without hosts has no such field.
        if let (Some(status), false) = (status.as_object_mut(), hosts.is_empty()) {
            status.insert("host_statuses".to_owned(), hosts.into());
        }
        status
    });
    json!({"cluster_statuses": statuses.collect::<Vec<Value>>()})
}

/// For people: a line for each fact.
pub fn text(process: &Process) -> String {
    let mut text = String::new();
    for cluster in process.config().clusters.values() {
        let name = &cluster.name;
        let limits = [
            ("max_connections", cluster.max_connections),
            ("max_pending_requests", cluster.max_pending_requests),
            ("max_requests", cluster.max_requests),
            ("max_retries", cluster.max_retries),
        ];
        let _ = writeln!(text, "{name}::observability_name::{name}");
        for (limit, value) in limits {
            let _ = writeln!(text, "{name}::default_priority::{limit}::{value}");
        }
        for endpoint in &cluster.endpoints {
            let _ = writeln!(text, "{name}::{endpoint}::health_flags::healthy");
            let _ = writeln!(text, "{name}::{endpoint}::weight::1");
        }
    }
    text
}

/// Envoy's `Address`.
pub fn address(address: SocketAddr) -> Value {
    json!({"socket_address": {"address": address.ip().to_string(), "port_value": address.port()}})
}
