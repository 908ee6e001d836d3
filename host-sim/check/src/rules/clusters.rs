//! The clusters of workers.

use dragoman_contract::names;
use host_sim_envoy::Place;

use super::Rule;
use crate::facts::{Cluster, Facts};
use crate::finding::Notes;

pub const RULES: &[Rule] = &[
    present,
    members,
    in_order,
    nobody_else,
    attempt,
    codec,
    retries,
];

const POLICY: &str = "load_balancing_policy";
const CODEC: &str = "envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec";
const OVERRIDE_HOST: &str =
    "envoy.extensions.load_balancing_policies.override_host.v3.OverrideHost";
const SUBSET: &str = "envoy.extensions.load_balancing_policies.subset.v3.Subset";
/// Envoy's default of `max_retries`.
const RETRIES: u64 = 3;
/// Envoy's default of `max_requests`.
const REQUESTS: u64 = 1024;

/// The document's clusters are there.
fn present(facts: &Facts<'_>, notes: &mut Notes) {
    let (Some(gateway), Some(document)) = (&facts.gateway, &facts.document) else {
        return;
    };
    let text = document.text().unwrap_or_default();
    for (index, worker) in gateway.workers.iter().enumerate() {
        if !facts
            .clusters
            .iter()
            .any(|cluster| cluster.name == worker.cluster)
        {
            let path = format!("workers[{index}].cluster");
            let line = document.line_of_text(crate::locate::line(text, &path, ""));
            notes.add(crate::Severity::Error, "cluster-present", line, path, format!("{:?} is no cluster of this file: every attempt at {} gets 503", worker.cluster, worker.id), "add it to static_resources.clusters; `host-sim render` writes all that the document names");
        }
    }
}

/// A worker's address is a member of its cluster.
fn members(facts: &Facts<'_>, notes: &mut Notes) {
    let Some(gateway) = &facts.gateway else {
        return;
    };
    for cluster in &facts.clusters {
        let members = cluster.members();
        let workers = gateway
            .workers
            .iter()
            .filter(|worker| worker.cluster == cluster.name);
        for worker in workers.filter(|worker| !members.contains(&worker.address)) {
            notes.error_in("cluster-members", &cluster.at, "load_assignment.endpoints", format!("lacks {}, the address of worker {}: Envoy skips an address that it does not know and takes the next one for it, so every later attempt goes to another worker than planned and is refused", worker.address, worker.id), "add the address to lb_endpoints");
        }
        for member in members.iter().filter(|_| {
            gateway
                .workers
                .iter()
                .any(|worker| worker.cluster == cluster.name)
        }) {
            if !gateway
                .workers
                .iter()
                .any(|worker| worker.cluster == cluster.name && worker.address == *member)
            {
                notes.warning_in(
                    "cluster-members",
                    &cluster.at,
                    "load_assignment.endpoints",
                    format!(
                        "has {member}, which is no worker of the document: no request goes there"
                    ),
                    "take it away, or name the worker in the document",
                );
            }
        }
    }
}

/// The one policy of a list of policies.
fn policy<'a>(at: &Place<'a>, field: &str) -> Option<Place<'a>> {
    let policies = at.get(field)?.list("policies");
    policies.first()?.get("typed_extension_config.typed_config")
}

/// Addresses are taken in the order that `select` wrote.
fn in_order(facts: &Facts<'_>, notes: &mut Notes) {
    for cluster in facts.worker_clusters() {
        let policy = policy(&cluster.at, POLICY);
        let policy = policy.filter(|policy| policy.type_name() == Some(OVERRIDE_HOST));
        let Some(policy) = policy else {
            notes.error_in("cluster-policy", &cluster.at, POLICY, "is not override_host: Envoy chooses a member by itself, attempt finds an address that is not the planned one, and refuses", "use override_host as `host-sim render` does");
            continue;
        };
        let sources = policy.list("override_host_sources");
        let headers: Vec<&str> = sources
            .iter()
            .filter_map(|source| source.text_at("header"))
            .collect();
        if !matches!(headers.as_slice(), [one] if one.eq_ignore_ascii_case(names::ENDPOINT_LIST)) {
            notes.error_in("cluster-policy", &policy, "override_host_sources", format!("must be the header {} alone: there select writes the addresses, and auth keeps clients from writing it", names::ENDPOINT_LIST), format!("override_host_sources: [{{header: {}}}]", names::ENDPOINT_LIST));
        }
    }
}

/// When the list is used up there is nobody else.
fn nobody_else(facts: &Facts<'_>, notes: &mut Notes) {
    for cluster in facts.worker_clusters() {
        let Some(over) =
            policy(&cluster.at, POLICY).filter(|policy| policy.type_name() == Some(OVERRIDE_HOST))
        else {
            continue;
        };
        let fallback = policy(&over, "fallback_policy");
        let nobody = fallback.is_some_and(|fallback| {
            let none = matches!(
                fallback.text_at("fallback_policy"),
                None | Some("NO_FALLBACK")
            );
            fallback.type_name() == Some(SUBSET) && none
        });
        if !nobody {
            notes.error_in("cluster-policy", &over, "fallback_policy", "chooses a member when the list of candidates names none: a request would go to a worker that select left out, or one that does not have the model", "use a subset policy with NO_FALLBACK as `host-sim render` does");
        }
    }
}

/// `attempt` runs for each attempt.
fn attempt(facts: &Facts<'_>, notes: &mut Notes) {
    for cluster in facts
        .worker_clusters()
        .filter(|cluster| !cluster.runs("attempt"))
    {
        let field = "typed_extension_protocol_options";
        notes.error_in("cluster-attempt", &cluster.at, field, "has no attempt in its upstream chain: workers get the client's credential and the public model name, and none of their own", "add attempt before the codec, as `host-sim render` does");
    }
}

/// An upstream chain ends with the codec.
fn codec(facts: &Facts<'_>, notes: &mut Notes) {
    for cluster in &facts.clusters {
        let Some(last) = cluster.filters.last() else {
            continue;
        };
        let is_codec = |filter: &Place<'_>| {
            let typed = filter.get("typed_config");
            typed.is_some_and(|config| config.type_name() == Some(CODEC))
        };
        if !is_codec(last) {
            notes.error("cluster-codec", last, "is the last filter of the upstream chain, which must be envoy.filters.http.upstream_codec: Envoy refuses to start", "put the codec last");
        }
    }
}

/// As many retries as requests.
fn retries(facts: &Facts<'_>, notes: &mut Notes) {
    for cluster in facts.worker_clusters() {
        let threshold = cluster
            .at
            .list("circuit_breakers.thresholds")
            .into_iter()
            .next();
        let number = |field, default| {
            threshold
                .as_ref()
                .and_then(|at| at.number_at(field))
                .unwrap_or(default)
        };
        let (retries, requests) = (
            number("max_retries", RETRIES),
            number("max_requests", REQUESTS),
        );
        if retries < requests {
            let default = if threshold
                .as_ref()
                .is_some_and(|at| at.get("max_retries").is_some())
            {
                ""
            } else {
                ", Envoy's default"
            };
            let what = format!(
                "{retries}{default}, below max_requests ({requests}): when a worker fails, its requests are retried all at once, and those beyond this number get the first worker's error although another one is free"
            );
            let fix = "thresholds: [{max_connections: 10000, max_pending_requests: 10000, max_requests: 10000, max_retries: 10000}]";
            at_threshold(cluster, threshold.as_ref(), what, fix, notes);
        }
    }
}

fn at_threshold(
    cluster: &Cluster<'_>,
    threshold: Option<&Place<'_>>,
    what: String,
    fix: &str,
    notes: &mut Notes,
) {
    match threshold {
        Some(threshold) => notes.error_in("retry-breaker", threshold, "max_retries", what, fix),
        None => notes.error_in(
            "retry-breaker",
            &cluster.at,
            "circuit_breakers.thresholds",
            what,
            fix,
        ),
    }
}
