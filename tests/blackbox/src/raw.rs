//! Configurations with guests in them, from the parts that differ.

use std::net::SocketAddr;

use crate::builder::Places;
use serde_json::{Value, json};

use crate::plugin::Plugin;

/// What the names of Envoy's extensions begin with.
pub const TYPE: &str = "type.googleapis.com/envoy.extensions";

/// How a cluster chooses a host.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Each in turn.
    RoundRobin,
    /// By the list of addresses, and nobody outside it: as in the shipped configuration.
    InOrder,
}

/// A configuration that grows.
pub struct Raw<'a> {
    places: &'a Places<'a>,
    filters: Vec<Value>,
    clusters: Vec<Value>,
    route: Value,
    listener: Value,
    hcm: Value,
    host: Value,
    log: Value,
    node: Value,
}

impl<'a> Raw<'a> {
    /// Everything goes to the cluster `workers`.
    #[must_use]
    pub fn new(places: &'a Places<'a>) -> Self {
        Self {
            places,
            filters: Vec::new(),
            clusters: Vec::new(),
            route: json!({"cluster": "workers", "timeout": "10s"}),
            listener: json!({}),
            hcm: json!({}),
            host: json!({}),
            log: json!({}),
            node: json!({}),
        }
    }

    /// The next filter of the chain.
    #[must_use]
    pub fn filter(mut self, plugin: &Plugin) -> Self {
        self.filters.push(plugin.filter());
        self
    }

    /// A cluster with these workers and upstream filters.
    #[must_use]
    pub fn cluster(
        mut self,
        name: &str,
        choice: Choice,
        workers: &[&str],
        attempt: &[Plugin],
    ) -> Self {
        let hosts: Vec<_> = workers
            .iter()
            .map(|worker| self.places.worker(worker))
            .collect();
        let mut cluster = plain_cluster(name, &hosts);
        if choice == Choice::InOrder {
            cluster["load_balancing_policy"] = in_order();
        }
        if !attempt.is_empty() {
            let mut chain: Vec<_> = attempt.iter().map(Plugin::filter).collect();
            chain.push(json!({"name": "codec", "typed_config": {
                "@type": format!("{TYPE}.filters.http.upstream_codec.v3.UpstreamCodec")}}));
            let options = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
            cluster["typed_extension_protocol_options"] = json!({options: {
                "@type": format!("type.googleapis.com/{options}"),
                "explicit_http_config": {"http_protocol_options": {}},
                "http_filters": chain,
            }});
        }
        self.clusters.push(cluster);
        self
    }

    /// A cluster that speaks HTTP/2 to these places, with further fields.
    #[must_use]
    pub fn http2_cluster(mut self, name: &str, hosts: &[SocketAddr], fields: Value) -> Self {
        let mut cluster = plain_cluster(name, hosts);
        let options = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
        cluster["typed_extension_protocol_options"] = json!({options: {
            "@type": format!("type.googleapis.com/{options}"),
            "explicit_http_config": {"http2_protocol_options": {}},
        }});
        extend(&mut cluster, fields);
        self.clusters.push(cluster);
        self
    }

    /// Sets further fields of a cluster that was added before.
    ///
    /// # Panics
    /// When there is none of that name.
    #[must_use]
    pub fn cluster_fields(mut self, name: &str, fields: Value) -> Self {
        let cluster = self
            .clusters
            .iter_mut()
            .find(|cluster| cluster["name"] == name)
            .expect("a cluster of this configuration");
        extend(cluster, fields);
        self
    }

    /// The action of the only route.
    #[must_use]
    pub fn route(mut self, route: Value) -> Self {
        self.route = route;
        self
    }

    /// Sets a field of the listener.
    #[must_use]
    pub fn listener(mut self, field: &str, value: Value) -> Self {
        self.listener[field] = value;
        self
    }

    /// Sets a field of the connection manager.
    #[must_use]
    pub fn hcm(mut self, field: &str, value: Value) -> Self {
        self.hcm[field] = value;
        self
    }

    /// Sets a field of the virtual host.
    #[must_use]
    pub fn virtual_host(mut self, field: &str, value: Value) -> Self {
        self.host[field] = value;
        self
    }

    /// What the gateway is called.
    #[must_use]
    pub fn node(mut self, node: Value) -> Self {
        self.node = node;
        self
    }

    /// Adds a field to the line of a request.
    #[must_use]
    pub fn log(mut self, field: &str, format: &str) -> Self {
        self.log[field] = format.into();
        self
    }

    /// The text.
    ///
    /// # Panics
    /// Never: a JSON value can be written.
    #[must_use]
    pub fn yaml(self) -> String {
        let mut line = json!({"log": "request", "request_id": "%STREAM_ID%", "code": "%RESPONSE_CODE%",
            "details": "%RESPONSE_CODE_DETAILS%"});
        extend(&mut line, self.log);
        let attempt = json!({"log": "attempt", "request_id": "%REQ(X-REQUEST-ID)%", "host": "%UPSTREAM_HOST%"});
        let mut filters = self.filters;
        filters.push(json!({"name": "router", "typed_config": {
            "@type": format!("{TYPE}.filters.http.router.v3.Router"),
            "suppress_envoy_headers": true,
            "upstream_log": [log_file(self.places, attempt)]}}));
        let mut host = json!({"name": "gateway", "domains": ["*"],
            "routes": [{"match": {"prefix": "/"}, "route": self.route}]});
        extend(&mut host, self.host);
        let mut hcm = json!({
            "@type": format!("{TYPE}.filters.network.http_connection_manager.v3.HttpConnectionManager"),
            "stat_prefix": "public", "use_remote_address": true,
            "always_set_request_id_in_response": true, "delayed_close_timeout": "0.2s",
            "access_log": [log_file(self.places, line)],
            "route_config": {"virtual_hosts": [host]},
            "http_filters": filters,
        });
        extend(&mut hcm, self.hcm);
        let manager = json!({"name": "hcm", "typed_config": hcm});
        let mut listener = json!({"name": "public", "address": socket(self.places.listen),
            "filter_chains": [{"filters": [manager]}]});
        extend(&mut listener, self.listener);
        let all = json!({"node": self.node, "admin": {"address": socket(self.places.admin)},
            "static_resources": {"listeners": [listener], "clusters": self.clusters}});
        serde_json::to_string_pretty(&all).expect("a JSON value can be written")
    }
}

/// A rendered configuration with a filter in front of its chain.
#[must_use]
pub fn before_the_chain(yaml: &str, plugin: &Plugin) -> String {
    let filters = "http_filters:\n";
    let with = format!("{filters}          - {}\n", plugin.filter());
    yaml.replacen(filters, &with, 1)
}

/// A rendered configuration with one more cluster, of one host and without filters.
#[must_use]
pub fn with_cluster(yaml: &str, name: &str, host: SocketAddr) -> String {
    let clusters = "  clusters:\n";
    let cluster = plain_cluster(name, &[host]);
    yaml.replacen(clusters, &format!("{clusters}  - {cluster}\n"), 1)
}

fn plain_cluster(name: &str, hosts: &[SocketAddr]) -> Value {
    let endpoints: Vec<_> = hosts
        .iter()
        .map(|host| json!({"endpoint": {"address": socket(*host)}}))
        .collect();
    json!({
        "name": name, "type": "STATIC", "connect_timeout": "1s",
        "circuit_breakers": {"thresholds": [{"max_retries": 1000}]},
        "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": endpoints}]},
    })
}

fn socket(address: SocketAddr) -> Value {
    json!({"socket_address": {"address": address.ip().to_string(), "port_value": address.port()}})
}

fn log_file(places: &Places<'_>, format: Value) -> Value {
    json!({"name": "file", "typed_config": {
        "@type": format!("{TYPE}.access_loggers.file.v3.FileAccessLog"),
        "path": places.access_log.display().to_string(),
        "log_format": {"json_format": format}}})
}

fn in_order() -> Value {
    let policies = |name: &str, mut config: Value| {
        config["@type"] = format!("{TYPE}.load_balancing_policies.{name}").into();
        json!({"policies": [{"typed_extension_config": {"name": name, "typed_config": config}}]})
    };
    let nobody = policies(
        "subset.v3.Subset",
        json!({"fallback_policy": "NO_FALLBACK", "subset_selectors": [{"keys": ["never"]}],
            "subset_lb_policy": policies("round_robin.v3.RoundRobin", json!({}))}),
    );
    policies(
        "override_host.v3.OverrideHost",
        json!({"override_host_sources": [{"header": "x-gateway-destination-endpoint"}],
            "fallback_policy": nobody}),
    )
}

fn extend(value: &mut Value, more: Value) {
    if let (Some(object), Value::Object(more)) = (value.as_object_mut(), more) {
        object.extend(more);
    }
}
