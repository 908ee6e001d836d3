use super::{Row, check_rows};

const CLUSTERS: &str = "\n  clusters:\n";

#[test]
fn a_cluster_of_the_document_that_is_not_there_is_named_where_the_document_names_it() {
    check_rows(&[Row {
        behind: "\"workers\": [\n",
        old: "\"cluster\": \"workers\", \"address\": \"127.0.0.1:9102\"",
        new: "\"cluster\": \"far\", \"address\": \"127.0.0.1:9102\"",
        line: "\"far\"",
        found: &[
            "error cluster-present",
            "error route-cluster",
            "warning cluster-members",
        ],
        says: "\"far\" is no cluster of this file",
    }]);
}

#[test]
fn a_workers_address_is_a_member_of_its_cluster() {
    check_rows(&[Row {
        behind: CLUSTERS,
        old: "port_value: 9102",
        new: "port_value: 9103",
        line: "endpoints:",
        found: &["error cluster-members", "warning cluster-members"],
        says: "lacks 127.0.0.1:9102, the address of worker w2",
    }]);
}

#[test]
fn addresses_are_taken_in_the_order_of_select_and_then_nobody() {
    check_rows(&[
        Row {
            behind: CLUSTERS,
            old: "override_host.v3.OverrideHost",
            new: "round_robin.v3.RoundRobin",
            line: "load_balancing_policy",
            found: &["error cluster-policy", "error form", "error form"],
            says: "is not override_host",
        },
        Row {
            behind: CLUSTERS,
            old: "header: x-gateway-destination-endpoint",
            new: "header: x-other",
            line: "override_host_sources",
            found: &["error cluster-policy"],
            says: "x-gateway-destination-endpoint alone",
        },
        Row {
            behind: CLUSTERS,
            old: "fallback_policy: NO_FALLBACK",
            new: "fallback_policy: ANY_ENDPOINT",
            line: "fallback_policy:",
            found: &["error cluster-policy", "warning not-modelled"],
            says: "a worker that select left out",
        },
    ]);
}

#[test]
fn attempt_runs_for_each_attempt_before_the_codec() {
    check_rows(&[
        Row {
            behind: CLUSTERS,
            old: "    typed_extension_protocol_options: &attempt_chain\n",
            new: "    metadata:\n",
            line: "- name: \"workers\"",
            found: &[
                "error cluster-attempt",
                "error form",
                "warning not-modelled",
            ],
            says: "the client's credential",
        },
        Row {
            behind: CLUSTERS,
            old: "        - name: envoy.filters.http.upstream_codec\n          typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec}\n",
            new: "",
            line: "- name: attempt",
            found: &["error cluster-codec", "warning not-modelled"],
            says: "must be envoy.filters.http.upstream_codec",
        },
    ]);
}

#[test]
fn there_are_as_many_retries_as_requests() {
    check_rows(&[
        Row {
            behind: CLUSTERS,
            old: ", max_retries: 10000",
            new: "",
            line: "thresholds",
            found: &["error retry-breaker"],
            says: "3, Envoy's default, below max_requests (10000)",
        },
        Row {
            behind: CLUSTERS,
            old: "max_retries: 10000",
            new: "max_retries: 100",
            line: "max_retries: 100",
            found: &["error retry-breaker"],
            says: "100, below max_requests",
        },
        Row {
            behind: CLUSTERS,
            old: "    circuit_breakers: &breakers\n      thresholds: [{max_connections: 10000, max_pending_requests: 10000, max_requests: 10000, max_retries: 10000}]\n",
            new: "",
            line: "- name: \"workers\"",
            found: &["error retry-breaker"],
            says: "3, Envoy's default, below max_requests (1024)",
        },
    ]);
}
