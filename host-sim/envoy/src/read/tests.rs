use std::time::Duration;

use host_sim_host::config::{
    Bootstrap, ClusterChoice, EscapedSlashes, FailurePolicy, Forward, Http2, JsonFormat,
    LoadBalancing, Plain, ReplyFilter, Route, RouteAction, UnderscoreHeaders,
};
use proptest::prelude::*;

use super::read;
use crate::{RenderOptions, render};

mod refused;

const SHIPPED_JSON: &str = include_str!("../../../../envoy/gateway.json");
const SHIPPED_YAML: &str = include_str!("../../../../envoy/envoy.yaml");

fn accepted(yaml: &str) -> Bootstrap {
    read(yaml).unwrap_or_else(|problems| {
        panic!(
            "{}",
            problems
                .iter()
                .map(|problem| format!("{problem}\n"))
                .collect::<String>()
        )
    })
}

fn forward(route: &Route) -> &Forward {
    match &route.action {
        RouteAction::Forward(forward) => forward,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_shipped_listener_is_read() {
    let bootstrap = accepted(SHIPPED_YAML);
    assert_eq!(bootstrap.admin, "127.0.0.1:9901".parse().ok());
    let [listener] = &bootstrap.listeners[..] else {
        panic!("one listener")
    };
    assert_eq!(listener.address, "127.0.0.1:10000".parse().unwrap());
    assert_eq!(
        listener.metadata["dragoman"]["role"],
        Plain::Text("public".to_owned())
    );
    assert_eq!(listener.buffer_limit_bytes, 1024 * 1024);
    let http = &listener.http;
    assert!(http.use_remote_address && http.normalize_path && http.merge_slashes);
    assert!(http.always_set_request_id_in_response && http.router.suppress_envoy_headers);
    assert_eq!(
        http.path_with_escaped_slashes_action,
        EscapedSlashes::Reject
    );
    assert_eq!(
        http.headers_with_underscores_action,
        UnderscoreHeaders::Reject
    );
    assert_eq!(http.stream_idle_timeout, Some(Duration::from_secs(60)));
    assert_eq!(http.delayed_close_timeout, Duration::from_millis(200));
    let limit = 4_194_304 + 1_310_720;
    assert_eq!(http.http2_initial_stream_window_size, Some(limit));
    assert_eq!(
        http.virtual_hosts[0].request_body_buffer_limit,
        Some(u64::from(limit))
    );
}

#[test]
fn the_shipped_routes_are_read() {
    let bootstrap = accepted(SHIPPED_YAML);
    let [workers, refused] = &bootstrap.listeners[0].http.virtual_hosts[0].routes[..] else {
        panic!("two routes")
    };
    let to_workers = forward(workers);
    assert_eq!(workers.headers[0].name, "x-dragoman-routed");
    let ClusterChoice::ByHeader { header, map } = &to_workers.cluster else {
        panic!("by header")
    };
    assert_eq!(
        (header.as_str(), map["workers"].as_str()),
        ("x-dragoman-cluster", "workers")
    );
    assert_eq!(to_workers.timeout, None);
    assert_eq!(to_workers.idle_timeout, Some(Duration::from_secs(600)));
    assert!(to_workers.retry.refresh_cluster_on_retry);
    assert_eq!(to_workers.retry.num_retries, Some(0));
    let ClusterChoice::Named(nobody) = &forward(refused).cluster else {
        panic!("by name")
    };
    assert!(bootstrap.clusters[nobody].endpoints.is_empty());
}

#[test]
fn the_shipped_plugins_get_the_document_byte_for_byte_and_a_vm_each() {
    let bootstrap = accepted(SHIPPED_YAML);
    let downstream = &bootstrap.listeners[0].http.filters;
    let [attempt] = &bootstrap.clusters["workers"].upstream_filters[..] else {
        panic!("one filter")
    };
    let names = [
        "poll",
        "auth",
        "alias",
        "idempotency",
        "rate_limit",
        "select",
        "attempt",
    ];
    assert_eq!(downstream.len() + 1, names.len());
    for (plugin, name) in downstream.iter().chain([attempt]).zip(names) {
        assert_eq!(plugin.configuration, SHIPPED_JSON.as_bytes(), "{name}");
        assert_eq!((&*plugin.name, &*plugin.root_id), (name, name));
        assert!(plugin.allow_on_headers_stop_iteration);
        let base_interval = Duration::from_millis(100);
        assert_eq!(
            plugin.failure_policy,
            FailurePolicy::Reload { base_interval }
        );
        assert_eq!(plugin.vm.vm_id, "dragoman");
        assert_eq!(plugin.vm.configuration, name.as_bytes());
        assert_eq!(plugin.vm.code_path, format!("envoy/modules/{name}.wasm"));
    }
    assert!(
        downstream
            .iter()
            .all(|plugin| plugin.vm.host_env_keys.is_empty())
    );
    assert_eq!(attempt.vm.host_env_keys, ["W1_KEY", "W2_KEY"]);
}

#[test]
fn the_shipped_cluster_refuses_what_is_not_in_the_list() {
    let cluster = &accepted(SHIPPED_YAML).clusters["workers"];
    let LoadBalancing::OverrideHost { headers, fallback } = &cluster.load_balancing else {
        panic!("{:?}", cluster.load_balancing)
    };
    assert_eq!(headers, &["x-gateway-destination-endpoint"]);
    assert!(matches!(**fallback, LoadBalancing::None));
    assert_eq!(cluster.endpoints.len(), 2);
    assert_eq!(cluster.connect_timeout, Duration::from_secs(1));
    assert_eq!(
        (cluster.max_retries, cluster.max_requests),
        (10_000, 10_000)
    );
}

#[test]
fn the_shipped_replies_leave_the_answers_of_filters_alone() {
    let bootstrap = accepted(SHIPPED_YAML);
    let mappers = &bootstrap.listeners[0].http.local_reply_mappers;
    assert_eq!(mappers.len(), 28);
    for mapper in mappers {
        let ReplyFilter::And(conditions) = &mapper.filter else {
            panic!("{:?}", mapper.filter)
        };
        assert!(matches!(conditions[0], ReplyFilter::HasDetails));
        assert!(matches!(mapper.body, Some(JsonFormat::Object(_))));
        assert_eq!(mapper.status_code, None);
    }
}

#[test]
fn every_cluster_of_the_document_has_its_own_members() {
    let document = SHIPPED_JSON.replacen(
        "\"workers\": [",
        r#""workers": [{"id": "v6", "cluster": "n", "address": "[::1]:9103"},"#,
        1,
    );
    let yaml = render(&document, &RenderOptions::default()).unwrap();
    let clusters = accepted(&yaml).clusters;
    let names: Vec<&str> = clusters.keys().map(String::as_str).collect();
    assert_eq!(names, ["dragoman-refused", "n", "workers"]);
    assert_eq!(clusters["n"].endpoints, ["[::1]:9103".parse().unwrap()]);
    assert_eq!(
        clusters["n"].upstream_filters,
        clusters["workers"].upstream_filters
    );
}

#[test]
fn what_is_left_out_has_envoys_defaults() {
    let bootstrap = accepted(refused::SMALLEST);
    let listener = &bootstrap.listeners[0];
    assert_eq!(listener.buffer_limit_bytes, 1024 * 1024);
    assert_eq!(listener.http.stream_idle_timeout, None);
    assert_eq!(listener.http.delayed_close_timeout, Duration::from_secs(1));
    assert_eq!(
        listener.http.path_with_escaped_slashes_action,
        EscapedSlashes::Keep
    );
    assert_eq!(
        forward(&listener.http.virtual_hosts[0].routes[0]).timeout,
        Some(Duration::from_secs(15))
    );
    assert_eq!(
        listener.http.filters[0].failure_policy,
        FailurePolicy::Closed
    );
    let cluster = &bootstrap.clusters["c"];
    assert!(matches!(cluster.load_balancing, LoadBalancing::RoundRobin));
    assert_eq!(cluster.connect_timeout, Duration::from_secs(5));
    assert_eq!((cluster.max_retries, cluster.max_requests), (3, 1024));
    assert_eq!(
        (cluster.max_pending_requests, cluster.max_connections),
        (1024, 1024)
    );
}

#[test]
fn a_cluster_speaks_http_2_if_it_says_so() {
    let with = |options: &str| {
        let name = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
        let text = format!(
            "- name: c\n    typed_extension_protocol_options: {{{name}: {{\"@type\": type.googleapis.com/{name}, \
             explicit_http_config: {{{options}}}}}}}\n"
        );
        let yaml = refused::SMALLEST.replace("- name: c\n", &text);
        accepted(&yaml).clusters["c"].http2
    };
    assert_eq!(with("http_protocol_options: {}"), None);
    assert_eq!(with("http2_protocol_options: {}"), Some(Http2::default()));
    let sized = with(
        "http2_protocol_options: {max_concurrent_streams: 7, initial_stream_window_size: 70000}",
    );
    assert_eq!(
        sized,
        Some(Http2 {
            max_concurrent_streams: Some(7),
            initial_stream_window_size: Some(70000),
            initial_connection_window_size: None,
        })
    );
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*|[-a&*{}\\[\\]:,'\"|>!#%@?~ \n\t0-9]{0,200}") {
        let _ = read(&text);
    }

    #[test]
    fn no_damage_to_the_shipped_file_makes_the_reader_panic(
        start in 0..SHIPPED_YAML.len(), length in 0_usize..400, patch in "[-a&*{}\\[\\]:,'\"|> \n]{0,6}"
    ) {
        let end = (start + length).min(SHIPPED_YAML.len());
        let cut = |at: usize| (0..=at).rev().find(|at| SHIPPED_YAML.is_char_boundary(*at)).unwrap_or(0);
        let text = format!("{}{patch}{}", &SHIPPED_YAML[..cut(start)], &SHIPPED_YAML[cut(end)..]);
        let _ = read(&text);
    }
}
