//! What is deployed.

use super::Features;
use crate::draw::Draw;
use crate::plan::{
    CircuitPlan, EndpointPlan, IdempotencyPlan, KeyPlan, LimitPlan, TargetPlan, TenantPlan,
    Topology, WorkerPlan,
};

pub(super) fn draw(features: &Features, draw: &mut Draw) -> Topology {
    let mut topology = Topology {
        max_body_bytes: draw.pick(4096, &[1024, 65_536, 4_194_304]),
        max_uploads: draw.pick(64, &[1, 3, 64]),
        ..Topology::default()
    };
    let clusters = draw.size(1, 3);
    for number in 1..=draw.size(1, 8) {
        topology
            .workers
            .push(worker(number, clusters, features, draw));
    }
    if features.auth {
        callers(&mut topology, draw);
    }
    for number in 1..=draw.size(1, 3) {
        let endpoint = endpoint(number, &topology, draw);
        topology.endpoints.push(endpoint);
    }
    allowlists(&mut topology, draw);
    if features.limits {
        for _ in 0..draw.size(1, 2) {
            topology.limits.push(LimitPlan {
                by: draw.pick("tenant", &["app", "key"]).to_owned(),
                per_1000_s: draw.pick(1000, &[100, 2500, 10_000]),
                burst: draw.range(1, 8),
            });
        }
    }
    topology.idempotency = features.idempotency.then(|| IdempotencyPlan {
        ttl_s: draw.pick(86_400, &[60, 120]),
        lease_s: draw.pick(60, &[10, 20]),
        max_response_bytes: draw.pick(1_048_576, &[1024, 4096]),
        hold: draw.percent(30),
    });
    topology.circuit = features.circuit.then(|| CircuitPlan {
        threshold: draw.range(1, 5),
        cooldown_s: draw.range(1, 6),
    });
    topology.health_s = features.health.then(|| draw.range(1, 4));
    topology
}

fn worker(number: usize, clusters: usize, features: &Features, draw: &mut Draw) -> WorkerPlan {
    let header = draw.pick("authorization", &["x-api-key", "api-key", "x-worker-key"]);
    WorkerPlan {
        id: format!("w{number}"),
        cluster: format!("cluster-{}", draw.size(1, clusters)),
        credential: draw.percent(75).then(|| header.to_owned()),
        max_in_flight: (features.caps && draw.percent(60)).then(|| draw.range(1, 4)),
    }
}

fn callers(topology: &mut Topology, draw: &mut Draw) {
    for number in 1..=draw.size(1, 3) {
        let tenant = format!("tenant-{number}");
        for app in 1..=draw.size(1, 2) {
            for key in 1..=draw.size(1, 2) {
                topology.keys.push(KeyPlan {
                    id: format!("key-{number}-{app}-{key}"),
                    tenant: tenant.clone(),
                    app: format!("app-{app}"),
                    models: None,
                });
            }
        }
        topology.tenants.push(TenantPlan {
            id: tenant,
            suspended: number > 1 && draw.percent(15),
        });
    }
}

/// Some keys may use some models only.
fn allowlists(topology: &mut Topology, draw: &mut Draw) {
    let slugs: Vec<String> = topology
        .endpoints
        .iter()
        .map(|endpoint| endpoint.slug.clone())
        .collect();
    for key in topology.keys.iter_mut().skip(1) {
        if draw.percent(20) {
            key.models = Some(slugs.iter().filter(|_| draw.percent(60)).cloned().collect());
        }
    }
}

fn endpoint(number: usize, topology: &Topology, draw: &mut Draw) -> EndpointPlan {
    let mut targets: Vec<TargetPlan> = Vec::new();
    for worker in &topology.workers {
        if draw.percent(70) {
            targets.push(TargetPlan {
                worker: worker.id.clone(),
                weight: draw.pick(100, &[0, 1, 50]),
                enabled: draw.percent(90),
            });
        }
    }
    if let (true, Some(worker)) = (targets.is_empty(), topology.workers.first()) {
        targets.push(TargetPlan {
            worker: worker.id.clone(),
            weight: 100,
            enabled: true,
        });
    }
    let mode = draw.pick("failover", &["weighted", "round-robin"]);
    let is_used = |target: &TargetPlan| target.enabled && target.weight > 0;
    if mode == "weighted"
        && !targets.iter().any(is_used)
        && let Some(first) = targets.first_mut()
    {
        (first.weight, first.enabled) = (100, true);
    }
    let tenant = draw
        .percent(25)
        .then(|| draw.of(&topology.tenants))
        .flatten();
    EndpointPlan {
        slug: format!("model-{number}"),
        mode: mode.to_owned(),
        timeout_ms: draw.pick(5000, &[200, 1000, 5000, 30_000]),
        max_attempts: draw.size(1, 5),
        tenant: tenant.map(|tenant| tenant.id.clone()),
        targets,
    }
}
