//! The routes: to the workers only past the whole chain, on to the next cluster, and for how long.

use dragoman_contract::names;
use host_sim_envoy::Place;

use super::Rule;
use crate::facts::{Facts, Listener};
use crate::finding::Notes;

pub const RULES: &[Rule] = &[marked, refused, matcher, next_cluster, total_time, silence];

const SPECIFIER: &str = "inline_cluster_specifier_plugin.extension.typed_config";
const TREE: &str = "cluster_matcher.matcher_tree";

/// The routes of the gates, each with whether it leads to workers.
fn routes<'f, 'a>(
    facts: &'f Facts<'a>,
) -> impl Iterator<Item = (&'f Listener<'a>, Place<'a>, bool)> {
    facts.gates().flat_map(move |(listener, manager)| {
        let hosts = manager.list("route_config.virtual_hosts").into_iter();
        let routes = hosts.flat_map(|host| host.list("routes"));
        routes.map(move |route| {
            let to_workers = leads_to_workers(facts, &route);
            (listener, route, to_workers)
        })
    })
}

fn leads_to_workers(facts: &Facts<'_>, route: &Place<'_>) -> bool {
    let Some(action) = route.get("route") else {
        return false;
    };
    let cluster = action.text_at("cluster");
    action.get("inline_cluster_specifier_plugin").is_some()
        || facts
            .worker_clusters()
            .any(|known| Some(known.name) == cluster)
}

/// Only `select` marks a request for the workers, at the end of the chain.
fn marked(facts: &Facts<'_>, notes: &mut Notes) {
    for (_, route, _) in routes(facts).filter(|(_, _, to_workers)| *to_workers) {
        let is_mark = |header: &Place<'_>| {
            let name = header.text_at("name").unwrap_or_default();
            name.eq_ignore_ascii_case(names::ROUTED)
                && header.text_at("string_match.exact") == Some("1")
        };
        if !route.list("match.headers").iter().any(is_mark) {
            notes.error_in("route-marked", &route, "match.headers", format!("does not ask for {}: 1, which only select sets: requests reach the workers without having passed auth and the limits", names::ROUTED), format!("headers: [{{name: {}, string_match: {{exact: \"1\"}}}}]", names::ROUTED));
        }
    }
}

/// What is not marked reaches nobody.
fn refused(facts: &Facts<'_>, notes: &mut Notes) {
    for (_, manager) in facts.gates() {
        for host in manager.list("route_config.virtual_hosts") {
            let routes = host.list("routes");
            let catches_all = |route: &Place<'_>| {
                route.text_at("match.prefix") == Some("/") && route.list("match.headers").is_empty()
            };
            match routes.last() {
                Some(last) if catches_all(last) => {
                    let name = last.text_at("route.cluster");
                    let cluster = facts.clusters.iter().find(|cluster| Some(cluster.name) == name);
                    if let Some(cluster) = cluster.filter(|cluster| !cluster.members().is_empty()) {
                        notes.error_in("last-route", last, "route.cluster", format!("{} has members: requests that did not pass the whole chain are sent to them", cluster.name), format!("route it to a cluster without hosts, as {}", host_sim_envoy::REFUSED_CLUSTER));
                    }
                }
                _ => notes.error_in("last-route", &host, "routes", "has no last route that takes everything: until select has run a request has no route, so Envoy takes the body limit of none (1 MiB) and answers 404 where it should say 503", "add {match: {prefix: \"/\"}, route: {cluster: ...}} with a cluster without hosts"),
            }
        }
    }
}

/// The cluster is found by the header that `select` and `attempt` write, for every cluster of the document.
fn matcher(facts: &Facts<'_>, notes: &mut Notes) {
    for (_, route, _) in routes(facts).filter(|(_, _, to_workers)| *to_workers) {
        let Some(specifier) = route.get("route").and_then(|action| action.get(SPECIFIER)) else {
            notes.error_in("route-cluster", &route, "route", format!("finds its cluster by another way than the matcher on {}: select and attempt say there where each attempt goes, and a retry would stay in the first cluster", names::CLUSTER), "use inline_cluster_specifier_plugin with a matcher, as `host-sim render` does");
            continue;
        };
        let Some(tree) = specifier.get(TREE) else {
            continue;
        };
        let header = tree
            .text_at("input.typed_config.header_name")
            .unwrap_or_default();
        if !header.eq_ignore_ascii_case(names::CLUSTER) {
            notes.error_in("route-cluster", &tree, "input.typed_config.header_name", format!("{header}: select and attempt write the cluster into {}, so no request finds one", names::CLUSTER), format!("header_name: {}", names::CLUSTER));
        }
        let Some(map) = tree.get("exact_match_map.map") else {
            continue;
        };
        for (value, entry) in map.entries() {
            let target = entry
                .text_at("action.typed_config.cluster")
                .unwrap_or_default();
            if !facts.clusters.iter().any(|cluster| cluster.name == target) {
                notes.error("route-cluster", &entry, format!("{target:?} is no cluster of this file: an attempt that is to go there stays in the cluster before it, or gets 503"), "name a cluster of static_resources.clusters");
            } else if target != value {
                notes.error("route-cluster", &entry, format!("sends the attempts of {value} to {target}: attempt finds an address there that is not in its plan and refuses"), format!("cluster: {value}"));
            }
        }
        let workers = facts.gateway.iter().flat_map(|gateway| &gateway.workers);
        for worker in workers.filter(|worker| map.field(&worker.cluster).is_none()) {
            notes.error(
                "route-cluster",
                &map,
                format!(
                    "lacks {}, the cluster of the document's worker {}: no attempt reaches it",
                    worker.cluster, worker.id
                ),
                format!("add an entry {}", worker.cluster),
            );
        }
    }
}

/// A retry finds the cluster of its own candidate.
fn next_cluster(facts: &Facts<'_>, notes: &mut Notes) {
    for (_, route, _) in routes(facts).filter(|(_, _, to_workers)| *to_workers) {
        let Some(action) = route.get("route") else {
            continue;
        };
        if !action.is_true("retry_policy.refresh_cluster_on_retry") {
            notes.error_in("refresh-cluster", &action, "retry_policy.refresh_cluster_on_retry", "is not true: a retry stays in the cluster of the first attempt, where the next candidate's address is unknown, so it gets 503 instead of the next worker", "refresh_cluster_on_retry: true (Envoy 1.39 or later)");
        }
    }
}

/// A stream may run as long as it says something.
fn total_time(facts: &Facts<'_>, notes: &mut Notes) {
    for (_, route, _) in routes(facts).filter(|(_, _, to_workers)| *to_workers) {
        let Some(action) = route.get("route") else {
            continue;
        };
        if action
            .duration_at("timeout")
            .is_none_or(|timeout| !timeout.is_zero())
        {
            let is = action
                .text_at("timeout")
                .unwrap_or("is missing, and Envoy's default is 15 s");
            notes.error_in("route-timeout", &action, "timeout", format!("{is}: a streamed answer is cut off after that time, however well it runs; the time to the first byte is the document's timeout_ms"), "timeout: 0s, with idle_timeout and per_try_idle_timeout");
        }
    }
}

/// Silence ends, on the way to a worker and before.
fn silence(facts: &Facts<'_>, notes: &mut Notes) {
    for (_, manager) in facts.gates() {
        let limit = manager.duration_at("stream_idle_timeout");
        if limit.is_none_or(|limit| limit.is_zero()) {
            let is = limit.map_or(
                "is missing, and Envoy's default is 5 minutes",
                |_| "0s is no limit",
            );
            notes.warning_in("idle", manager, "stream_idle_timeout", format!("{is}: a stalled upload, and a request that waits in a VM that trapped, hold their memory that long; nothing else ends them"), "stream_idle_timeout: 60s");
        }
    }
    for (_, route, _) in routes(facts).filter(|(_, _, to_workers)| *to_workers) {
        let Some(action) = route.get("route") else {
            continue;
        };
        for (field, why) in [
            (
                "idle_timeout",
                "the shorter one of the connection manager holds, which cuts off models that think before their first byte",
            ),
            (
                "retry_policy.per_try_idle_timeout",
                "a worker that falls silent in the middle of an answer holds its place until the client gives up",
            ),
        ] {
            let limit = action.duration_at(field);
            if limit.is_none_or(|limit| limit.is_zero()) {
                let is = limit.map_or("is missing", |_| "0s is no limit");
                notes.warning_in(
                    "idle",
                    &action,
                    field,
                    format!("{is}: {why}"),
                    "600s, as `host-sim render` writes",
                );
            }
        }
    }
}
