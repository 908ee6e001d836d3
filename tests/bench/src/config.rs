//! The pieces of an Envoy configuration that are not ours: the plain listener, clusters, the ext_proc
//! filter, and the file that holds them all.

use std::net::SocketAddr;

use serde_json::{Value, json};

/// Cluster of the upstream without any filter.
pub const PLAIN: &str = "plain";
/// Cluster of the ext_proc server.
const PROCESSOR: &str = "processor";

/// A whole configuration; the admin listener takes `admin`.
pub fn bootstrap(admin: u16, listeners: Vec<Value>, clusters: Vec<Value>) -> Value {
    json!({
        "admin": {"address": address(([127, 0, 0, 1], admin).into())},
        "static_resources": {"listeners": listeners, "clusters": clusters},
    })
}

/// A listener with nothing but these filters and a router, to one cluster.
pub fn listener(filters: &[Value], cluster: &str) -> Value {
    let mut filters = filters.to_vec();
    filters.push(json!({
        "name": "envoy.filters.http.router",
        "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"},
    }));
    json!({
        "filter_chains": [{"filters": [{
            "name": "envoy.filters.network.http_connection_manager",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                "stat_prefix": "plain",
                "http_filters": filters,
                "route_config": {"virtual_hosts": [{
                    "name": "plain",
                    "domains": ["*"],
                    "routes": [{"match": {"prefix": "/"}, "route": {"cluster": cluster, "timeout": "0s"}}],
                }]},
            },
        }]}],
    })
}

/// Gives a listener its name and port.
pub fn at_port(mut listener: Value, name: &str, port: u16) -> Value {
    listener["name"] = json!(name);
    listener["address"] = address(([127, 0, 0, 1], port).into());
    listener
}

/// The upstream, with these filters on the way to it.
pub fn cluster(name: &str, upstream: &[SocketAddr], filters: &[Value]) -> Value {
    let mut cluster = json!({
        "name": name,
        "type": "STATIC",
        "connect_timeout": "1s",
        "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints":
            upstream.iter().map(|at| json!({"endpoint": {"address": address(*at)}})).collect::<Vec<_>>(),
        }]},
    });
    if !filters.is_empty() {
        let mut filters = filters.to_vec();
        filters.push(json!({
            "name": "envoy.filters.http.upstream_codec",
            "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec"},
        }));
        let protocol = json!({"http_protocol_options": {}});
        set_protocol(&mut cluster, protocol, Some(filters));
    }
    cluster
}

/// The cluster of the ext_proc server.
pub fn processor(port: u16) -> Value {
    let mut cluster = cluster(PROCESSOR, &[([127, 0, 0, 1], port).into()], &[]);
    set_protocol(&mut cluster, json!({"http2_protocol_options": {}}), None);
    cluster
}

fn set_protocol(cluster: &mut Value, protocol: Value, filters: Option<Vec<Value>>) {
    let mut options = json!({
        "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        "explicit_http_config": protocol,
    });
    if let Some(filters) = filters {
        options["http_filters"] = json!(filters);
    }
    cluster["typed_extension_protocol_options"] =
        json!({"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": options});
}

/// What Envoy sends to the ext_proc server besides the whole body.
#[derive(Clone, Copy)]
pub enum Hop {
    /// Nothing.
    Body,
    /// The headers of request and response: all that is sent unless one asks for less.
    All,
}

/// The ext_proc filter.
pub fn ext_proc(hop: Hop) -> Value {
    let headers = match hop {
        Hop::Body => "SKIP",
        Hop::All => "SEND",
    };
    json!({
        "name": "envoy.filters.http.ext_proc",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor",
            "grpc_service": {"envoy_grpc": {"cluster_name": PROCESSOR}, "timeout": "5s"},
            // Far more than it takes, so that no timer ends a request on a busy machine.
            "message_timeout": "5s",
            "processing_mode": {
                "request_header_mode": headers,
                "request_body_mode": "BUFFERED",
                "response_header_mode": headers,
            },
        },
    })
}

/// A module that takes no configuration.
pub fn module(name: &str, file: &str) -> Value {
    json!({
        "name": name,
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm",
            "config": {
                "name": name,
                "root_id": name,
                "allow_on_headers_stop_iteration": true,
                "failure_policy": "FAIL_RELOAD",
                "vm_config": {
                    "vm_id": name,
                    "runtime": "envoy.wasm.runtime.v8",
                    "code": {"local": {"filename": file}},
                },
            },
        },
    })
}

fn address(at: SocketAddr) -> Value {
    json!({"socket_address": {"address": at.ip().to_string(), "port_value": at.port()}})
}
