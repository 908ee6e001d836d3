//! The cluster of each attempt: named by a header, read again at each retry.

use blackbox::{Engine, Faults, World, both_engines};
use serde_json::{Value, json};

use blackbox::plugin::probe;
use blackbox::raw::{Choice, Raw};

both_engines![each_attempt_finds_its_own_cluster];

/// Cluster `A`: a1 to a3; `B`: b1, b2; both by the list. `C`: c1, which takes nothing from it.
const CLUSTERS: [(&str, Choice, &[&str]); 3] = [
    ("A", Choice::InOrder, &["a1", "a2", "a3"]),
    ("B", Choice::InOrder, &["b1", "b2"]),
    ("C", Choice::RoundRobin, &["c1"]),
];

/// Everybody answers 503, but `a3` refuses connections.
fn world(engine: Engine) -> World {
    let workers = CLUSTERS.iter().flat_map(|(_, _, workers)| *workers);
    let mut builder = World::on(engine);
    for worker in workers.clone() {
        builder = builder.worker(worker);
    }
    let world = builder.start_yaml(|places| {
        let retries = probe(
            "retries",
            &[
                "set x-envoy-retry-on 5xx,connect-failure",
                "set x-envoy-max-retries 3",
            ],
        );
        let raw = Raw::new(places).filter(&retries).route(route());
        let attempt = [probe("attempt", &["next"])];
        CLUSTERS
            .iter()
            .fold(raw, |raw, (name, choice, workers)| {
                raw.cluster(name, *choice, workers, &attempt)
            })
            .yaml()
    });
    for worker in workers {
        world.fail(worker, Faults::status(503));
    }
    world.worker("a3").refuse();
    world
}

fn route() -> Value {
    let specifiers = "type.googleapis.com/envoy.extensions.router.cluster_specifiers.matcher.v3";
    let action = |name: &str| json!({"action": {"name": name, "typed_config": {"@type": format!("{specifiers}.ClusterAction"), "cluster": name}}});
    json!({
        "timeout": "10s",
        "retry_policy": {"refresh_cluster_on_retry": true, "num_retries": 0},
        "inline_cluster_specifier_plugin": {"extension": {"name": "by_header", "typed_config": {
            "@type": format!("{specifiers}.MatcherClusterSpecifier"),
            "cluster_matcher": {"matcher_tree": {
                "input": {"name": "cluster", "typed_config": {
                    "@type": "type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput",
                    "header_name": "x-dragoman-cluster"}},
                "exact_match_map": {"map": {"A": action("A"), "B": action("B"), "C": action("C")}},
            }},
        }}},
    })
}

/// The workers that were tried for this list of addresses and these clusters, in order.
fn tried(world: &World, list: &str, clusters: &str) -> String {
    let workers: Vec<_> = CLUSTERS
        .iter()
        .flat_map(|(_, _, workers)| *workers)
        .collect();
    let address = |name: &str| match workers.iter().find(|worker| ***worker == name) {
        Some(worker) => world.worker(worker).address().to_string(),
        None => "127.0.0.1:1".to_owned(),
    };
    let name = |host: &str| {
        let found = workers.iter().find(|worker| address(worker) == host);
        found.map_or(host.to_owned(), |worker| (***worker).to_owned())
    };
    let addresses: Vec<_> = list.split(',').map(address).collect();
    let first = clusters.split(',').next().unwrap_or_default();
    let lines = [
        format!("x-gateway-destination-endpoint: {}", addresses.join(",")),
        format!("x-clusters: {clusters}"),
        format!("x-dragoman-cluster: {first}"),
    ];
    let headers: Vec<_> = lines.iter().map(String::as_str).collect();
    let response = world.request("POST", "/", &headers, b"{}");
    let id = response.header("x-request-id").expect("an id");
    let attempts = world.log().attempts(&id);
    let hosts = attempts.iter().filter_map(|line| line["host"].as_str());
    hosts.map(name).collect::<Vec<_>>().join(",")
}

/// A cluster with a policy of its own takes nothing from the list; a refused connection moves on
/// like an answer; an unknown address is used up by the first selection, and so are those behind
/// it of another cluster; an unknown cluster name keeps the old cluster.
fn each_attempt_finds_its_own_cluster(engine: Engine) {
    let world = world(engine);
    let table = [
        ("a1,b1,a2", "A,B,A", "a1,b1,a2"),
        ("a1,b1,a2", "A,C,B,A", "a1,c1,b1,a2"),
        ("b2,a3", "C,B,C,A", "c1,b2,c1,a3"),
        ("a3,b1,a2", "A,B,A", "a3,b1,a2"),
        ("b1,a3,b2,a2", "B,A,B,A", "b1,a3,b2,a2"),
        ("nobody,b1,a2", "A,B,A", "a2"),
        ("a1,b1", "A,NOPE,B", "a1"),
    ];
    let seen: Vec<_> = table
        .iter()
        .map(|(list, clusters, _)| (*list, *clusters, tried(&world, list, clusters)))
        .collect();
    let expected: Vec<_> = table
        .iter()
        .map(|(list, clusters, tried)| (*list, *clusters, (*tried).to_owned()))
        .collect();
    assert_eq!(seen, expected);
}
