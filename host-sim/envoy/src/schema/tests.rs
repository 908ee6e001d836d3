use super::refused_by_envoy;
use crate::Document;

const SHIPPED: &str = include_str!("../../../../envoy/envoy.yaml");

fn refused(yaml: &str) -> Vec<String> {
    let document = Document::parse(yaml).unwrap();
    let problems = refused_by_envoy(&document).into_iter();
    problems.map(|problem| problem.to_string()).collect()
}

#[test]
fn what_ships_is_what_envoy_knows() {
    assert_eq!(refused(SHIPPED), Vec::<String>::new());
}

#[test]
fn what_host_sim_does_not_model_but_envoy_knows_is_not_refused() {
    let yaml = "node: {id: here, metadata: {a: [1, {b: c}]}}\nstaticResources: {clusters: [{name: c, type: strict_dns, dnsLookupFamily: V4_ONLY, ignore_health_on_host_removal: \"yes\", load_assignment: {cluster_name: c, endpoints: {}}}]}\nadmin: ~\n";
    assert_eq!(refused(yaml), Vec::<String>::new());
}

#[test]
fn what_envoy_does_not_know_is_refused_where_it_stands() {
    let row = |what: &str, inner: &str| {
        (
            format!("static_resources:\n  clusters:\n  - name: c\n    {inner}\n"),
            what.to_owned(),
        )
    };
    for (yaml, expected) in [
        row(
            "line 4: static_resources.clusters[0].conect_timeout: is no field of envoy.config.cluster.v3.Cluster in Envoy 1.40, which refuses to start; did you mean connect_timeout?",
            "conect_timeout: 1s",
        ),
        row(
            "line 4: static_resources.clusters[0].connect_timeout: must be seconds with an s, like 0.1s",
            "connect_timeout: 250ms",
        ),
        row(
            "line 4: static_resources.clusters[0].type: \"STATICS\" is no envoy.config.cluster.v3.Cluster.DiscoveryType of Envoy 1.40; did you mean STATIC?",
            "type: STATICS",
        ),
        row(
            "line 4: static_resources.clusters[0].typed_extension_protocol_options: must be a map",
            "typed_extension_protocol_options: []",
        ),
        row(
            "line 4: static_resources.clusters[0].load_assignment.cluster_name: is missing or empty: Envoy refuses a envoy.config.endpoint.v3.ClusterLoadAssignment without it",
            "load_assignment: {}",
        ),
        row(
            "line 4: static_resources.clusters[0].alt_stat_name: 5 is a number here: put it in quotes",
            "alt_stat_name: 5",
        ),
        row(
            "line 4: static_resources.clusters[0].ignore_health_on_host_removal: must be true or false",
            "ignore_health_on_host_removal: 1",
        ),
        row(
            "line 4: static_resources.clusters[0].transport_socket.typed_config: has no \"@type\": Envoy cannot tell what it is",
            "transport_socket: {name: t, typed_config: {}}",
        ),
    ] {
        assert_eq!(refused(&yaml), [expected], "{yaml}");
    }
}

#[test]
fn what_several_aliases_stand_for_is_reported_once() {
    let yaml = "static_resources:\n  clusters:\n  - {name: a, circuit_breakers: &b {treshold: []}}\n  - {name: b, circuit_breakers: *b}\n";
    assert_eq!(refused(yaml).len(), 1);
}
