//! Writes `envoy.yaml` from `gateway.json`.
//!
//! The text comes from the templates beside this file, because people read it: order, comments and
//! anchors stay as an engineer would write them.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use dragoman_config::{ConfigError, Gateway, KeySetSource, TokenIssuer};
use dragoman_contract::names;

mod chain;
mod fill;
mod replies;
mod scalar;
#[cfg(test)]
mod tests;

use crate::limits::{READ_LIMIT_BYTES, body_limit_bytes, window_bytes};
pub use chain::{variables as wanted_variables, wanted as wanted_modules};
use fill::fill;

/// A cluster without hosts, for requests that did not pass the whole chain. The configuration check
/// keeps the prefix from workers.
pub const REFUSED_CLUSTER: &str = "dragoman-refused";
/// Properties of the filters in the request's log line: field name and property.
const LOGGED_PROPERTIES: [(&str, &str); 14] = [
    ("tenant", names::property::TENANT),
    ("app", names::property::APP),
    ("key", names::property::KEY),
    ("key_version", names::property::KEY_VERSION),
    ("endpoint", names::property::ENDPOINT),
    ("version", names::property::VERSION),
    ("route", names::property::ROUTE),
    ("worker", names::property::WORKER),
    ("tried", names::property::ATTEMPTS),
    ("idempotency", names::property::IDEMPOTENCY),
    ("input_tokens", names::property::INPUT_TOKENS),
    ("output_tokens", names::property::OUTPUT_TOKENS),
    ("error", names::property::ERROR),
    ("refusal", names::property::REFUSAL),
];

/// What `gateway.json` does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderOptions {
    /// Where the gateway listens.
    pub listen: SocketAddr,
    /// Where the admin endpoints listen; keep it on loopback.
    pub admin: SocketAddr,
    /// Folder of the `.wasm` files, relative to where Envoy is started.
    pub modules: String,
    /// File of the access log.
    pub access_log: String,
}

impl Default for RenderOptions {
    fn default() -> Self {
        let loopback = |port| SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port));
        Self {
            listen: loopback(10_000),
            admin: loopback(9_901),
            modules: "envoy/modules".to_owned(),
            access_log: "/dev/stdout".to_owned(),
        }
    }
}

/// Why there is no `envoy.yaml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenderError {
    /// The document is not a configuration of the gateway.
    Config(ConfigError),
    /// There is no worker, and Envoy takes no route without a cluster.
    NoWorker,
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::NoWorker => f.write_str("workers: []: must not be empty"),
        }
    }
}

impl std::error::Error for RenderError {}

/// The whole file; the same input gives the same bytes.
///
/// # Errors
///
/// If the document is refused by the gateway's own configuration check, or has no worker.
pub fn render(gateway_json: &str, options: &RenderOptions) -> Result<String, RenderError> {
    let gateway = dragoman_config::parse(gateway_json.as_bytes()).map_err(RenderError::Config)?;
    if gateway.workers.is_empty() {
        return Err(RenderError::NoWorker);
    }
    let body_limit = body_limit_bytes(gateway.max_body_bytes, READ_LIMIT_BYTES);
    let window = window_bytes(body_limit);
    let clusters = members(&gateway);
    let internal = internal_listener(&gateway);
    let anchor = if internal.is_empty() { "" } else { " &chains" };
    Ok(fill(
        include_str!("render/template/bootstrap.yaml"),
        &[
            ("admin", &*socket_address(options.admin)),
            ("listen", &socket_address(options.listen)),
            ("chains", anchor),
            ("internal_listener", &internal),
            ("window", &window.to_string()),
            ("body_limit", &body_limit.to_string()),
            ("read_limit", &READ_LIMIT_BYTES.to_string()),
            ("refused_cluster", REFUSED_CLUSTER),
            ("access_log", &scalar::quoted(&options.access_log)),
            ("request_line", &request_line()),
            (
                "attempt_line",
                include_str!("render/template/attempt_line.yaml"),
            ),
            ("mappers", &replies::mappers()),
            ("routed_header", names::ROUTED),
            ("cluster_header", names::CLUSTER),
            ("cluster_map", &cluster_map(&clusters)),
            ("filters", &chain::filters(&gateway, gateway_json, options)),
            ("clusters", &cluster_list(&clusters, &gateway, options)),
            ("control_cluster", &control_cluster(&gateway)),
            ("issuer_clusters", &issuer_clusters(&gateway)),
        ],
    ))
}

/// The second listener, where the document has one.
fn internal_listener(gateway: &Gateway) -> String {
    let Some(address) = gateway.internal_listener else {
        return String::new();
    };
    let values = [
        ("internal", &*socket_address(address)),
        ("read_limit", &READ_LIMIT_BYTES.to_string()),
    ];
    let listener = fill(
        include_str!("render/template/internal_listener.yaml"),
        &values,
    );
    listener + "\n"
}

/// The cluster of the control plane, where the document has one.
fn control_cluster(gateway: &Gateway) -> String {
    let Some(store) = &gateway.auth.key_store else {
        return String::new();
    };
    let values = [
        ("name", names::CONTROL_CLUSTER),
        ("address", &socket_address(store.address)),
    ];
    fill(
        include_str!("render/template/control_cluster.yaml"),
        &values,
    )
}

/// The clusters of the issuers that publish their keys.
fn issuer_clusters(gateway: &Gateway) -> String {
    let one = |(issuer, from): (&TokenIssuer, &KeySetSource)| {
        let values = [
            ("name", &*scalar::quoted(&names::issuer_cluster(&issuer.id))),
            ("address", &socket_address(from.address)),
        ];
        fill(include_str!("render/template/issuer_cluster.yaml"), &values)
    };
    gateway.auth.polled_issuers().map(one).collect()
}

/// The clusters that workers name, each with its addresses in the order of the document, which has
/// none twice in a cluster.
fn members(gateway: &Gateway) -> BTreeMap<&str, Vec<SocketAddr>> {
    let mut clusters: BTreeMap<&str, Vec<SocketAddr>> = BTreeMap::new();
    for worker in &gateway.workers {
        let addresses = clusters.entry(worker.cluster.as_str()).or_default();
        addresses.push(worker.address);
    }
    clusters
}

fn cluster_map(clusters: &BTreeMap<&str, Vec<SocketAddr>>) -> String {
    let action =
        "type.googleapis.com/envoy.extensions.router.cluster_specifiers.matcher.v3.ClusterAction";
    let line = |name: &&str| {
        let name = scalar::quoted(name);
        format!(
            "{name}: {{action: {{name: {name}, typed_config: {{\"@type\": {action}, cluster: {name}}}}}}}\n"
        )
    };
    clusters.keys().map(line).collect()
}

fn cluster_list(
    clusters: &BTreeMap<&str, Vec<SocketAddr>>,
    gateway: &Gateway,
    options: &RenderOptions,
) -> String {
    let attempt = chain::attempt(gateway, options);
    let template = |first: bool| {
        if first {
            include_str!("render/template/first_cluster.yaml")
        } else {
            include_str!("render/template/next_cluster.yaml")
        }
    };
    let one = |(index, (name, addresses)): (usize, (&&str, &Vec<SocketAddr>))| {
        let endpoint = |address: &SocketAddr| {
            format!("- endpoint: {{address: {}}}\n", socket_address(*address))
        };
        let values = [
            ("name", &*scalar::quoted(name)),
            (
                "endpoints",
                &addresses.iter().map(endpoint).collect::<String>(),
            ),
            ("endpoint_header", names::ENDPOINT_LIST),
            ("attempt", &attempt),
        ];
        fill(template(index == 0), &values)
    };
    clusters.iter().enumerate().map(one).collect()
}

fn request_line() -> String {
    let property =
        |(field, name): (&str, &str)| format!("{field}: \"%FILTER_STATE(wasm.{name}:PLAIN)%\"\n");
    let properties = LOGGED_PROPERTIES.into_iter().map(property);
    include_str!("render/template/request_line.yaml").to_owned() + &properties.collect::<String>()
}

fn socket_address(address: SocketAddr) -> String {
    format!(
        "{{socket_address: {{address: \"{}\", port_value: {}}}}}",
        address.ip(),
        address.port()
    )
}
