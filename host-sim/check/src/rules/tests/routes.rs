use super::{Row, check_rows};

#[test]
fn only_what_select_marked_reaches_workers() {
    let marked = "match: {prefix: \"/\", headers: [{name: x-dragoman-routed, string_match: {exact: \"1\"}}]}";
    check_rows(&[
        Row {
            behind: "routes:",
            old: marked,
            new: "match: {prefix: \"/v1\"}",
            line: "match:",
            found: &["error route-marked"],
            says: "without having passed auth",
        },
        Row {
            behind: "routes:",
            old: "exact: \"1\"",
            new: "prefix: \"1\"",
            line: "headers:",
            found: &["error route-marked"],
            says: "x-dragoman-routed: 1",
        },
        Row {
            behind: "routes:",
            old: "route: {cluster: dragoman-refused}",
            new: "route: {cluster: workers}",
            line: "match: {prefix: \"/\"}\n",
            found: &[
                "error route-marked",
                "error route-cluster",
                "error refresh-cluster",
                "error route-timeout",
                "warning idle",
                "warning idle",
                "error last-route",
            ],
            says: "without having passed auth",
        },
    ]);
}

#[test]
fn what_is_not_marked_reaches_nobody() {
    check_rows(&[
        Row {
            behind: "",
            old: "load_assignment: {cluster_name: dragoman-refused}",
            new: "load_assignment: {cluster_name: dragoman-refused, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 1}}}}]}]}",
            line: "route: {cluster: dragoman-refused}",
            found: &["error last-route"],
            says: "has members",
        },
        Row {
            behind: "virtual_hosts:",
            old: "match: {prefix: \"/\"}\n",
            new: "match: {prefix: \"/v1\"}\n",
            line: "routes:",
            found: &["error last-route"],
            says: "answers 404",
        },
    ]);
}

#[test]
fn the_cluster_is_found_by_the_header_of_select_and_attempt() {
    check_rows(&[
        Row {
            behind: "",
            old: "header_name: x-dragoman-cluster",
            new: "header_name: x-cluster",
            line: "header_name",
            found: &["error route-cluster"],
            says: "x-cluster: select and attempt write the cluster into x-dragoman-cluster",
        },
        Row {
            behind: "exact_match_map:",
            old: "cluster: \"workers\"",
            new: "cluster: \"nobody\"",
            line: "\"workers\":",
            found: &["error route-cluster"],
            says: "\"nobody\" is no cluster of this file",
        },
        Row {
            behind: "exact_match_map:",
            old: "cluster: \"workers\"",
            new: "cluster: dragoman-refused",
            line: "\"workers\":",
            found: &["error route-cluster"],
            says: "sends the attempts of workers to dragoman-refused",
        },
        Row {
            behind: "exact_match_map:",
            old: "\"workers\":",
            new: "\"others\":",
            line: "map:",
            found: &[
                "error route-cluster",
                "error route-cluster",
                "error route-cluster",
            ],
            says: "lacks workers",
        },
    ]);
}

#[test]
fn a_retry_finds_the_cluster_of_its_candidate() {
    check_rows(&[Row {
        behind: "",
        old: "refresh_cluster_on_retry: true",
        new: "refresh_cluster_on_retry: false",
        line: "refresh_cluster_on_retry:",
        found: &["error refresh-cluster"],
        says: "stays in the cluster of the first attempt",
    }]);
}

#[test]
fn a_stream_may_run_as_long_as_it_says_something() {
    check_rows(&[
        Row {
            behind: "routes:",
            old: "timeout: 0s ",
            new: "timeout: 30s ",
            line: "timeout: 30s",
            found: &["error route-timeout"],
            says: "30s: a streamed answer is cut off",
        },
        Row {
            behind: "routes:",
            old: "timeout: 0s ",
            new: "",
            line: "route:",
            found: &["error route-timeout"],
            says: "default is 15 s",
        },
    ]);
}

#[test]
fn silence_ends() {
    check_rows(&[
        Row {
            behind: "",
            old: "stream_idle_timeout: 60s",
            new: "",
            line: "typed_config:",
            found: &["warning idle"],
            says: "default is 5 minutes",
        },
        Row {
            behind: "routes:",
            old: "idle_timeout: 600s ",
            new: "",
            line: "route:",
            found: &["warning idle"],
            says: "cuts off models that think",
        },
        Row {
            behind: "routes:",
            old: "per_try_idle_timeout: 600s",
            new: "",
            line: "retry_policy",
            found: &["warning idle"],
            says: "falls silent",
        },
    ]);
}
