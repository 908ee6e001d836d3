//! The gateway's own configuration, as `host-sim render` writes it, cut down to a part of its chain.

use std::net::SocketAddr;
use std::path::Path;

use dragoman_contract::records::RETRIABLE_STATUSES;
use host_sim_envoy::RenderOptions;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{Failure, config};

/// The filters in their order.
pub const CHAIN: [&str; 7] = [
    "poll",
    "auth",
    "alias",
    "idempotency",
    "rate_limit",
    "select",
    "attempt",
];
/// The key of the client.
pub const API_KEY: &str = "sk-bench-4f1d8a7c";
/// Variable with the credential of the workers.
pub const WORKER_KEY: &str = "BENCH_WORKER_KEY";
/// The cluster of the workers, and the same without `attempt`.
const WORKERS: &str = "workers";
const WORKERS_PLAIN: &str = "workers-plain";

/// A cluster without a host.
pub const REFUSED: &str = "refused";

/// Which features are on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Features {
    /// Those of the shipped chain.
    All,
    /// None: what cannot be switched off remains (`alias`, `select`, `attempt`).
    None,
}

/// How requests get past the filters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// To the upstream, whatever the headers say: `select` has not run.
    Plain,
    /// As `select` says in headers.
    Selected,
}

/// A rendered configuration.
pub struct Gateway {
    listener: Value,
    workers: Value,
}

impl Gateway {
    /// Renders the gateway in front of these workers.
    pub fn render(
        features: Features,
        upstream: &[SocketAddr],
        modules: &Path,
    ) -> Result<Self, Failure> {
        let options = RenderOptions {
            modules: modules.to_string_lossy().into_owned(),
            // Lines are formatted and written, but take no disk.
            access_log: "/dev/null".to_owned(),
            ..RenderOptions::default()
        };
        let document = document(features, upstream).to_string();
        let yaml = host_sim_envoy::render(&document, &options)
            .map_err(|error| format!("the gateway's configuration: {error}"))?;
        let mut rendered: Value = serde_yaml_ng::from_str(&yaml)?;
        let resources = &mut rendered["static_resources"];
        let clusters = resources["clusters"].as_array().ok_or("no clusters")?;
        let workers = clusters.iter().find(|cluster| cluster["name"] == WORKERS);
        Ok(Self {
            workers: workers.ok_or("no cluster of workers")?.clone(),
            listener: resources["listeners"][0].take(),
        })
    }

    /// The clusters that its listeners use, besides [`config::PLAIN`].
    pub fn clusters(&self) -> Vec<Value> {
        let mut plain = self.workers.clone();
        plain["name"] = json!(WORKERS_PLAIN);
        plain["load_assignment"]["cluster_name"] = json!(WORKERS_PLAIN);
        let options = &mut plain["typed_extension_protocol_options"];
        for (_, options) in options.as_object_mut().into_iter().flatten() {
            if let Some(options) = options.as_object_mut() {
                options.remove("http_filters");
            }
        }
        vec![self.workers.clone(), plain]
    }

    /// Its listener with these filters only; [`CHAIN`] has their names.
    pub fn listener(&self, filters: &[&str], route: Route) -> Result<Value, Failure> {
        let mut listener = self.listener.clone();
        let manager = &mut listener["filter_chains"][0]["filters"][0]["typed_config"];
        let chain = manager["http_filters"].as_array_mut().ok_or("no filters")?;
        let is_ours = |filter: &Value| CHAIN.iter().any(|name| filter["name"] == *name);
        chain.retain(|filter| {
            !is_ours(filter) || filters.iter().any(|name| filter["name"] == *name)
        });
        let found = chain.iter().filter(|filter| is_ours(filter)).count();
        if found != filters.iter().filter(|name| **name != "attempt").count() {
            return Err(format!("the rendered chain has not all of {filters:?}").into());
        }
        let virtual_host = &mut manager["route_config"]["virtual_hosts"][0];
        let routes = virtual_host["routes"].as_array_mut().ok_or("no routes")?;
        // What gets past `select` all the same is to be noticed: this cluster has no host.
        let cluster = match route {
            Route::Plain => config::PLAIN,
            Route::Selected => REFUSED,
        };
        let refused = routes.iter_mut().find(|route| route["name"] == "refused");
        refused.ok_or("no route `refused`")?["route"]["cluster"] = json!(cluster);
        if filters.is_empty() && route == Route::Selected {
            let workers = routes.iter_mut().find(|route| route["name"] == "workers");
            retry_as_select(&mut workers.ok_or("no route `workers`")?["route"]["retry_policy"]);
        }
        if !filters.contains(&"attempt") {
            rename_cluster(&mut listener);
        }
        Ok(listener)
    }
}

/// What `select` asks for with headers that a client cannot send: they make Envoy keep the request for
/// another attempt, and set a timer for each.
fn retry_as_select(policy: &mut Value) {
    policy["retry_on"] = json!("connect-failure,reset,retriable-status-codes");
    policy["retriable_status_codes"] = json!(RETRIABLE_STATUSES);
    policy["num_retries"] = json!(1);
    policy["per_try_timeout"] = json!("30s");
}

/// Leads every cluster action to the workers without `attempt`.
fn rename_cluster(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                if name == "cluster" && field == WORKERS {
                    *field = json!(WORKERS_PLAIN);
                } else {
                    rename_cluster(field);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(rename_cluster),
        _ => {}
    }
}

fn document(features: Features, upstream: &[SocketAddr]) -> Value {
    let name = |index: usize| format!("w{}", index + 1);
    let workers = upstream.iter().enumerate().map(|(index, address)| {
        json!({
            "id": name(index), "address": address.to_string(), "max_in_flight": 1000,
            "credential": {"env": WORKER_KEY},
        })
    });
    let targets = (0..upstream.len())
        .map(|index| json!({"worker": name(index), "served_model_name": "served-large"}));
    let mut document = json!({
        "version": 1,
        "auth": {"mode": "off"},
        "endpoints": [{"name": "chat", "mode": "weighted", "targets": targets.collect::<Vec<_>>()}],
        "workers": workers.collect::<Vec<_>>(),
    });
    if features == Features::All {
        let key = json!({"id": "k1", "sha256": sha256(API_KEY), "tenant": "team", "app": "bench"});
        let rate = json!({"per_second": 1_000_000, "burst": 1_000_000});
        document["auth"] = json!({"mode": "on", "keys": [key]});
        document["tenants"] = json!([{"id": "team"}]);
        document["limits"] = json!([{"name": "requests", "by": ["key"], "rate": rate}]);
        document["idempotency"] = json!({});
        document["health"] = json!({});
        document["circuit"] = json!({});
    }
    document
}

fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
