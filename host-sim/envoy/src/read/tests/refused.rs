//! What is refused, with the words that a person reads.

use super::{SHIPPED_YAML, accepted, read};
use crate::{MAX_DEPTH, MAX_PROBLEMS};

/// As little as Envoy takes for a listener with a plugin and a cluster.
pub const SMALLEST: &str = r#"static_resources:
  listeners:
  - address: {socket_address: {address: 127.0.0.1, port_value: 10000}}
    filter_chains:
    - filters:
      - name: http
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: s
          route_config:
            virtual_hosts:
            - name: v
              domains: ["*"]
              routes:
              - match: {prefix: /}
                route: {cluster: c}
          http_filters:
          - name: w
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm
              config:
                vm_config: {runtime: envoy.wasm.runtime.v8, code: {local: {filename: a.wasm}}}
          - name: router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
  clusters:
  - name: c
"#;

/// What the rows below write for long paths.
const PATHS: [(&str, &str); 6] = [
    ("LISTENER", "static_resources.listeners[0]"),
    ("HTTP", "LISTENER.filter_chains[0].filters[0].typed_config"),
    ("HOST", "HTTP.route_config.virtual_hosts[0]"),
    ("ROUTE", "HOST.routes[0]"),
    ("PLUGIN", "HTTP.http_filters[0].typed_config.config"),
    ("CLUSTER", "static_resources.clusters[0]"),
];

fn problems(yaml: &str) -> Vec<String> {
    match read(yaml) {
        Ok(_) => panic!("accepted:\n{yaml}"),
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    }
}

/// Each row: text of the smallest file, what stands there instead, and the problem.
#[track_caller]
fn check(rows: &[(&str, &str, &str)]) {
    accepted(SMALLEST);
    for (old, new, expected) in rows {
        assert!(SMALLEST.contains(old), "{old}");
        let shortened = PATHS.iter().rev();
        let expected = shortened.fold((*expected).to_owned(), |text, (short, long)| {
            text.replace(short, long)
        });
        assert_eq!(
            problems(&SMALLEST.replacen(old, new, 1)),
            [expected],
            "{new}"
        );
    }
}

#[test]
fn a_field_without_a_place_in_the_model_is_named_with_its_path() {
    check(&[
        (
            "static_resources:",
            "node: {id: a, user_agent_name: b}\nstatic_resources:",
            "line 1: node.user_agent_name: not modelled by host-sim",
        ),
        (
            "  clusters:",
            "  secrets: []\n  clusters:",
            "line 25: static_resources.secrets: not modelled by host-sim",
        ),
        (
            "  - address",
            "  - traffic_direction: INBOUND\n    address",
            "line 3: LISTENER.traffic_direction: not modelled by host-sim",
        ),
        (
            "    - filters:",
            "    - transport_socket: {name: tls}\n      filters:",
            "line 5: LISTENER.filter_chains[0].transport_socket: not modelled by host-sim: it speaks no TLS, neither with clients nor with workers; leave it out of the file that host-sim serves, and talk to it in clear text",
        ),
        (
            "{cluster: c}",
            "{cluster: c, hash_policy: []}",
            "line 16: ROUTE.route.hash_policy: not modelled by host-sim",
        ),
        (
            "{prefix: /}",
            "{prefix: /, case_sensitive: false}",
            "line 15: ROUTE.match.case_sensitive: not modelled by host-sim",
        ),
        (
            "vm_config: {",
            "fail_open: true\n                vm_config: {",
            "line 22: PLUGIN.fail_open: not modelled by host-sim",
        ),
        (
            "filename: a.wasm}}",
            "filename: a.wasm}}, allow_precompiled: true",
            "line 22: PLUGIN.vm_config.allow_precompiled: not modelled by host-sim",
        ),
        (
            "- name: c\n",
            "- name: c\n    lb_subset_config: {}\n",
            "line 27: CLUSTER.lb_subset_config: not modelled by host-sim",
        ),
    ]);
}

#[test]
fn only_http2_of_clients_is_refused_as_a_codec() {
    let with = |codec: &str| {
        let codec = format!("          codec_type: {codec}\n          stat_prefix");
        SMALLEST.replacen("          stat_prefix", &codec, 1)
    };
    accepted(&with("AUTO"));
    accepted(&with("HTTP1"));
    let [problem] = problems(&with("HTTP2")).try_into().unwrap();
    assert!(problem.starts_with("line 9: "), "{problem}");
    assert!(
        problem.ends_with("typed_config.codec_type: \"HTTP2\": not modelled by host-sim: clients are served over HTTP/1.1 only; write AUTO, which Envoy serves with HTTP/2 as well"),
        "{problem}"
    );
}

#[test]
fn a_value_without_a_place_in_the_model_is_refused() {
    check(&[
        (
            "- name: c\n",
            "- name: c\n    type: STRICT_DNS\n",
            "line 27: CLUSTER.type: \"STRICT_DNS\": not modelled by host-sim",
        ),
        (
            "- name: c\n",
            "- name: c\n    typed_extension_protocol_options: {envoy.extensions.upstreams.http.v3.HttpProtocolOptions: {\"@type\": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions, explicit_http_config: {http2_protocol_options: {initial_stream_window_size: 65534}}}}\n",
            "line 27: CLUSTER.typed_extension_protocol_options.envoy.extensions.upstreams.http.v3.HttpProtocolOptions.explicit_http_config.http2_protocol_options.initial_stream_window_size: 65534: must be at least 65535",
        ),
        (
            "- name: c\n",
            "- name: c\n    lb_policy: RANDOM\n",
            "line 27: CLUSTER.lb_policy: \"RANDOM\": not modelled by host-sim",
        ),
        (
            "address: 127.0.0.1",
            "address: localhost",
            "line 3: LISTENER.address.socket_address.address: \"localhost\": not modelled by host-sim",
        ),
        (
            "[\"*\"]",
            "[\"*.example\"]",
            "line 13: HOST.domains[0]: \"*.example\": not modelled by host-sim",
        ),
        (
            "{cluster: c}",
            "{cluster: c, idle_timeout: 0s}",
            "line 16: ROUTE.route.idle_timeout: \"0s\": not modelled by host-sim",
        ),
        (
            "{cluster: c}",
            "{cluster: c, retry_policy: {retry_on: \"5xx,cancelled\"}}",
            "line 16: ROUTE.route.retry_policy.retry_on: \"cancelled\": not modelled by host-sim",
        ),
        (
            "runtime.v8",
            "runtime.wasmtime",
            "line 22: PLUGIN.vm_config.runtime: \"envoy.wasm.runtime.wasmtime\": not modelled by host-sim",
        ),
        (
            "vm_config: {",
            "failure_policy: FAIL_SOFT\n                vm_config: {",
            "line 22: PLUGIN.failure_policy: \"FAIL_SOFT\": not modelled by host-sim",
        ),
        (
            "          stat_prefix",
            "          path_with_escaped_slashes_action: UNESCAPE_AND_FORWARD\n          stat_prefix",
            "line 9: HTTP.path_with_escaped_slashes_action: \"UNESCAPE_AND_FORWARD\": not modelled by host-sim",
        ),
    ]);
}

#[test]
fn a_message_of_another_type_is_refused() {
    check(&[
        (
            "filters.http.router.v3.Router",
            "filters.http.cors.v3.Cors",
            "line 24: HTTP.http_filters[1].typed_config: @type: envoy.extensions.filters.http.cors.v3.Cors: must be envoy.extensions.filters.http.router.v3.Router",
        ),
        (
            "\"@type\": type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm\n",
            "a: 1\n",
            "line 20: HTTP.http_filters[0].typed_config: @type: is missing",
        ),
        (
            "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm",
            "envoy.Wasm",
            "line 20: HTTP.http_filters[0].typed_config.@type: \"envoy.Wasm\": not modelled by host-sim",
        ),
        (
            "vm_config: {",
            "configuration: {\"@type\": type.googleapis.com/google.protobuf.Struct, value: {}}\n                vm_config: {",
            "line 22: PLUGIN.configuration: @type: google.protobuf.Struct: must be google.protobuf.StringValue",
        ),
    ]);
}

#[test]
fn a_value_of_another_kind_is_refused() {
    check(&[
        (
            "stat_prefix: s",
            "stat_prefix: n",
            "line 9: HTTP.stat_prefix: n is a boolean here: put it in quotes",
        ),
        (
            "stat_prefix: s",
            "stat_prefix: 5",
            "line 9: HTTP.stat_prefix: 5 is a number here: put it in quotes",
        ),
        (
            "stat_prefix: s",
            "stat_prefix:",
            "line 8: HTTP: stat_prefix: is missing",
        ),
        (
            "stat_prefix: s",
            "stat_prefix: \"\"",
            "line 9: HTTP.stat_prefix: must not be empty",
        ),
        (
            "stat_prefix: s",
            "stat_prefix: {}",
            "line 9: HTTP.stat_prefix: must be a string",
        ),
        (
            "stat_prefix: s",
            "stat_prefix: s\n          merge_slashes: \"true\"",
            "line 10: HTTP.merge_slashes: must be true or false",
        ),
        (
            "port_value: 10000",
            "port_value: 70000",
            "line 3: LISTENER.address.socket_address.port_value: 70000: must be at most 65535",
        ),
        (
            "port_value: 10000",
            "port_value: 010",
            "line 3: LISTENER.address.socket_address.port_value: 010: must be a whole number",
        ),
        (
            "{cluster: c}",
            "{cluster: c, timeout: 1m}",
            "line 16: ROUTE.route.timeout: 1m: must be seconds with an s, like 0.1s",
        ),
        ("{cluster: c}", "[]", "line 16: ROUTE.route: must be a map"),
        ("[\"*\"]", "\"*\"", "line 13: HOST.domains: must be a list"),
    ]);
}

#[test]
fn what_contradicts_itself_is_refused() {
    check(&[
        (
            "filename: a.wasm}}",
            "filename: a.wasm}}, environment_variables: {host_env_keys: [A], key_values: {A: b}}",
            "line 22: PLUGIN.vm_config.environment_variables: A: is there twice",
        ),
        (
            "{cluster: c}",
            "{cluster: d}",
            "line 3: LISTENER: a route names the cluster \"d\", which is not there",
        ),
        (
            "route: {cluster: c}",
            "name: r",
            "line 15: ROUTE: must have either route or direct_response",
        ),
        (
            "{prefix: /}",
            "{prefix: /, path: /a}",
            "line 15: ROUTE.match: must have either prefix or path",
        ),
        (
            "- name: c\n",
            "- name: c\n  - name: c\n",
            "line 27: static_resources.clusters[1]: name: c: there is another of that name",
        ),
        (
            "- name: c\n",
            "- name: c\n    load_assignment: {cluster_name: d}\n",
            "line 27: CLUSTER.load_assignment.cluster_name: \"d\": not modelled by host-sim",
        ),
        (
            "vm_config: {",
            "reload_config: {backoff: {base_interval: 1s}}\n                vm_config: {",
            "line 22: PLUGIN.reload_config: has no effect without FAIL_RELOAD",
        ),
        (
            "stat_prefix: s",
            "stat_prefix: s\n          http2_protocol_options: {initial_stream_window_size: 100}",
            "line 10: HTTP.http2_protocol_options.initial_stream_window_size: 100: must be 65535 to 2147483647",
        ),
    ]);
}

#[test]
fn an_unknown_operator_of_a_log_is_refused() {
    let yaml = SHIPPED_YAML.replacen("%BYTES_SENT%", "%BYTES_SNET%", 1);
    let [problem] = &problems(&yaml)[..] else {
        panic!("one problem")
    };
    assert!(
        problem.ends_with("bytes_out: operator BYTES_SNET: not modelled by host-sim"),
        "{problem}"
    );
}

#[test]
fn all_foreign_fields_are_reported_at_once_up_to_a_bound() {
    let more = "    a: 1\n    b: 2\n";
    assert_eq!(
        problems(&SMALLEST.replacen("- name: c\n", &format!("- name: c\n{more}"), 1)).len(),
        2
    );
    let many: String = (0..MAX_PROBLEMS * 2)
        .map(|index| format!("    a{index}: 1\n"))
        .collect();
    assert_eq!(problems(&format!("{SMALLEST}{many}")).len(), MAX_PROBLEMS);
}

#[test]
fn yaml_that_is_more_than_a_tree_of_text_is_refused() {
    for (yaml, expected) in [
        ("", "line 1: file: is empty"),
        (
            "a: 1\na: 2",
            "line 2: file: has the key \"a\" twice in one map",
        ),
        (
            "a: !!str 1",
            "line 1: file: has a tag: not modelled by host-sim",
        ),
        ("a: 1\n---\nb: 1", "line 2: file: has a second document"),
        ("{[a]: 1}", "line 1: file: has a key that is not text"),
        (
            "a: &b [*b]",
            "line 1: file: has an alias inside its own anchor",
        ),
        ("- a", "line 1: file: must be a map"),
    ] {
        assert_eq!(problems(yaml), [expected], "{yaml}");
    }
    assert!(problems("a: *b")[0].contains("is not YAML"));
    assert!(problems("a: [")[0].contains("is not YAML"));
}

#[test]
fn files_that_would_take_too_much_are_refused() {
    let deep = format!("{}{}", "[".repeat(MAX_DEPTH + 1), "]".repeat(MAX_DEPTH + 1));
    assert_eq!(
        problems(&deep),
        [format!(
            "line 1: file: is nested deeper than {MAX_DEPTH} levels"
        )]
    );
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let below = format!("*a{}, ", level - 1).repeat(10);
        laughs.push_str(&format!("a{level}: &a{level} [{below}]\n"));
    }
    assert_eq!(
        problems(&laughs),
        ["line 6: file: has more than 1000000 nodes"]
    );
    let long = format!("a: {}", "x".repeat(crate::MAX_FILE_BYTES));
    assert!(problems(&long)[0].contains("must have at most 16777216"));
}
