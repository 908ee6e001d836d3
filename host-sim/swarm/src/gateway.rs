//! `gateway.json` and environment of a plan.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::plan::{EndpointPlan, Plan, Planted, Topology, WorkerPlan};

/// First port of the workers.
const FIRST_PORT: usize = 9100;

/// What a client shows as its API key.
#[must_use]
pub fn key_secret(id: &str) -> String {
    format!("sk-client-{id}-9f3b71c5d2")
}

/// What a worker wants to see.
#[must_use]
pub fn worker_secret(id: &str) -> String {
    format!("sk-worker-{id}-70e4a81b6c")
}

/// What a worker calls the model of an endpoint.
#[must_use]
pub fn served_name(slug: &str, worker: &str) -> String {
    format!("{slug}-on-{worker}")
}

/// The environment of the gateway: credentials of the workers.
#[must_use]
pub fn environment(plan: &Plan) -> BTreeMap<String, String> {
    let workers = &plan.topology.workers;
    let secret = |place: usize, worker: &WorkerPlan| match plan.planted {
        Some(Planted::WrongCredential) if place == 0 => {
            worker_secret(workers.last().map_or("nobody", |last| last.id.as_str()))
        }
        _ => worker_secret(&worker.id),
    };
    let workers = workers.iter().enumerate();
    workers
        .map(|(place, worker)| (variable(&worker.id), secret(place, worker)))
        .collect()
}

/// The document. `edition` counts the updates of a run: what differs between editions changes nothing for clients.
#[must_use]
pub fn document(plan: &Plan, edition: usize) -> String {
    let topology = &plan.topology;
    let mut document = Map::new();
    let mut put = |name: &str, value: Value| document.insert(name.to_owned(), value);
    put("version", 1.into());
    put("max_body_bytes", topology.max_body_bytes.into());
    put("routing", json!({"backend_header": "x-aisuite-backend"}));
    put("workers", workers(plan));
    put("endpoints", endpoints(topology, edition));
    if topology.tenants.is_empty() {
        put("auth", json!({"mode": "off"}));
    } else {
        put("auth", auth(topology));
        put("tenants", tenants(topology));
        if !topology.limits.is_empty() {
            put("limits", limits(plan));
        }
    }
    if let Some(kept) = &topology.idempotency {
        let holds = kept.hold && plan.planted != Some(Planted::ForgetsUnknown);
        let on_unknown = if holds { "hold" } else { "release" };
        put(
            "idempotency",
            json!({"ttl_s": kept.ttl_s, "lease_s": kept.lease_s, "max_response_bytes": kept.max_response_bytes, "on_unknown": on_unknown}),
        );
    }
    if let Some(circuit) = &topology.circuit {
        put(
            "circuit",
            json!({"threshold": circuit.threshold, "cooldown_seconds": circuit.cooldown_s}),
        );
    }
    if let Some(seconds) = topology.health_s {
        put(
            "health",
            json!({"health_check_seconds": seconds, "timeout_ms": 500}),
        );
    }
    Value::Object(document).to_string()
}

fn variable(worker: &str) -> String {
    format!("SECRET_OF_{}", worker.to_ascii_uppercase())
}

/// Where a worker is; it keeps its address when others are left out.
#[must_use]
pub fn address(worker: &str) -> String {
    let number: usize = worker.trim_start_matches('w').parse().unwrap_or_default();
    format!("127.0.0.1:{}", FIRST_PORT + number)
}

fn workers(plan: &Plan) -> Value {
    let topology = &plan.topology;
    // More than the one for each other thread that may be missing from the sum, so that the check can tell.
    let more = match plan.planted {
        Some(Planted::LooseCaps) => 8,
        _ => 0,
    };
    let workers = topology.workers.iter().map(|worker| {
        let address = address(&worker.id);
        let mut value = json!({"id": worker.id, "cluster": worker.cluster, "address": address});
        if let (Some(header), Some(fields)) = (&worker.credential, value.as_object_mut()) {
            let credential = json!({"env": variable(&worker.id), "header": header});
            fields.insert("credential".to_owned(), credential);
        }
        if let (Some(cap), Some(fields)) = (worker.max_in_flight, value.as_object_mut()) {
            fields.insert("max_in_flight".to_owned(), (cap + more).into());
        }
        value
    });
    workers.collect()
}

fn endpoints(topology: &Topology, edition: usize) -> Value {
    let endpoints = topology.endpoints.iter();
    endpoints.map(|one| endpoint(one, edition)).collect()
}

fn endpoint(endpoint: &EndpointPlan, edition: usize) -> Value {
    let targets = endpoint.targets.iter().map(|target| {
        let model = served_name(&endpoint.slug, &target.worker);
        json!({"worker": target.worker, "served_model_name": model, "weight": target.weight, "enabled": target.enabled})
    });
    let mut value = json!({
        "name": endpoint.slug, "mode": endpoint.mode, "timeout_ms": endpoint.timeout_ms,
        "version": format!("v{edition}"), "max_attempts": endpoint.max_attempts, "targets": targets.collect::<Vec<_>>(),
    });
    if let (Some(tenant), Some(fields)) = (&endpoint.tenant, value.as_object_mut()) {
        fields.insert("tenant".to_owned(), tenant.as_str().into());
    }
    value
}

fn auth(topology: &Topology) -> Value {
    let keys = topology.keys.iter().map(|key| {
        let mut digest = String::new();
        for byte in Sha256::digest(key_secret(&key.id)) {
            // Writing to a string cannot fail.
            let _ = write!(digest, "{byte:02x}");
        }
        let mut value =
            json!({"id": key.id, "sha256": digest, "tenant": key.tenant, "app": key.app});
        if let (Some(models), Some(fields)) = (&key.models, value.as_object_mut()) {
            fields.insert("models".to_owned(), models.clone().into());
        }
        value
    });
    json!({"mode": "on", "max_uploads": topology.max_uploads, "keys": keys.collect::<Vec<_>>()})
}

fn tenants(topology: &Topology) -> Value {
    let status = |suspended| if suspended { "suspended" } else { "active" };
    let tenants = topology.tenants.iter();
    tenants
        .map(|tenant| json!({"id": tenant.id, "status": status(tenant.suspended)}))
        .collect()
}

fn limits(plan: &Plan) -> Value {
    let more = if plan.planted == Some(Planted::LooseLimits) {
        3
    } else {
        0
    };
    let limits = plan.topology.limits.iter().enumerate();
    let limits = limits.map(|(place, limit)| {
        let rate = limit.per_1000_s as f64 / 1000.0;
        json!({
            "name": format!("limit-{place}"), "by": [limit.by],
            "rate": {"per_second": rate, "burst": limit.burst + more},
        })
    });
    limits.collect()
}
