//! What the rules look at: an `envoy.yaml` as the gateway's own parts, each with its place.

use std::net::SocketAddr;

use dragoman_config::Gateway;
use dragoman_contract::chain::{Module, Side, module};
use host_sim_envoy::Place;

const MANAGER: &str =
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const WASM: &str = "envoy.extensions.filters.http.wasm.v3.Wasm";
const PROTOCOL_OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
const STRING_VALUE: &str = "google.protobuf.StringValue";

/// A file.
pub struct Facts<'a> {
    pub root: Place<'a>,
    pub listeners: Vec<Listener<'a>>,
    pub clusters: Vec<Cluster<'a>>,
    /// The gateway's document, if it is there and right.
    pub gateway: Option<Gateway>,
    /// Where it stands.
    pub document: Option<Place<'a>>,
}

/// A listener.
pub struct Listener<'a> {
    pub at: Place<'a>,
    /// Its connection manager.
    pub manager: Option<Place<'a>>,
    /// Its wasm filters, in order.
    pub plugins: Vec<Plugin<'a>>,
}

/// A cluster.
pub struct Cluster<'a> {
    pub at: Place<'a>,
    pub name: &'a str,
    /// The filters of its upstream chain.
    pub filters: Vec<Place<'a>>,
    /// The wasm filters among them.
    pub plugins: Vec<Plugin<'a>>,
}

/// A wasm filter.
#[derive(Clone)]
pub struct Plugin<'a> {
    /// Its entry in the chain.
    pub at: Place<'a>,
    /// Its `config`.
    pub config: Place<'a>,
    /// The module of the product that it runs; `None`: somebody else's.
    pub module: Option<&'static Module>,
}

impl<'a> Facts<'a> {
    pub fn of(root: Place<'a>) -> Self {
        let listeners: Vec<Listener<'a>> = root
            .list("static_resources.listeners")
            .into_iter()
            .map(listener)
            .collect();
        let clusters: Vec<Cluster<'a>> = root
            .list("static_resources.clusters")
            .into_iter()
            .map(cluster)
            .collect();
        let mut facts = Facts {
            root,
            listeners,
            clusters,
            gateway: None,
            document: None,
        };
        let document = facts.own_plugins().find_map(Plugin::document);
        facts.document = document;
        let text = facts.document.as_ref().and_then(Place::text);
        facts.gateway = text.and_then(|text| dragoman_config::parse(text.as_bytes()).ok());
        facts
    }

    /// All wasm filters, those of listeners first.
    pub fn plugins(&self) -> impl Iterator<Item = &Plugin<'a>> {
        let downstream = self.listeners.iter().flat_map(|listener| &listener.plugins);
        let upstream = self.clusters.iter().flat_map(|cluster| &cluster.plugins);
        downstream.chain(upstream)
    }

    /// The wasm filters that run the product's modules.
    pub fn own_plugins(&self) -> impl Iterator<Item = &Plugin<'a>> {
        self.plugins().filter(|plugin| plugin.module.is_some())
    }

    /// The listeners that the gateway serves, with their connection managers.
    pub fn gates(&self) -> impl Iterator<Item = (&Listener<'a>, &Place<'a>)> {
        self.listeners.iter().filter_map(|listener| {
            let runs = |plugin: &Plugin<'_>| plugin.module.is_some();
            let manager = listener.manager.as_ref()?;
            listener
                .plugins
                .iter()
                .any(runs)
                .then_some((listener, manager))
        })
    }

    /// The clusters of workers: those that the document names, or that run `attempt`.
    pub fn worker_clusters(&self) -> impl Iterator<Item = &Cluster<'a>> {
        self.clusters.iter().filter(|cluster| {
            let workers = self.gateway.iter().flat_map(|gateway| &gateway.workers);
            let mut named = workers.map(|worker| worker.cluster.as_str());
            named.any(|name| name == cluster.name) || cluster.runs("attempt")
        })
    }
}

impl<'a> Cluster<'a> {
    pub fn runs(&self, name: &str) -> bool {
        let runs = |plugin: &Plugin<'_>| plugin.module.is_some_and(|module| module.name == name);
        self.plugins.iter().any(runs)
    }

    /// Its members.
    pub fn members(&self) -> Vec<SocketAddr> {
        let localities = self.at.list("load_assignment.endpoints");
        let members = localities
            .iter()
            .flat_map(|locality| locality.list("lb_endpoints"));
        members
            .filter_map(|member| address(&member.get("endpoint.address")?))
            .collect()
    }
}

impl<'a> Plugin<'a> {
    /// What the filter is called.
    pub fn name(&self) -> &'a str {
        self.config
            .text_at("name")
            .or_else(|| self.at.text_at("name"))
            .unwrap_or_default()
    }

    /// The file of its module.
    pub fn file(&self) -> Option<Place<'a>> {
        self.config.get("vm_config.code.local.filename")
    }

    /// The text of its configuration.
    pub fn document(&self) -> Option<Place<'a>> {
        string_value(&self.config, "configuration")
    }
}

/// `address.socket_address` as an address.
pub fn address(at: &Place<'_>) -> Option<SocketAddr> {
    let socket = at.get("socket_address")?;
    let ip = socket.text_at("address")?.parse().ok()?;
    let port = u16::try_from(socket.number_at("port_value")?).ok()?;
    Some(SocketAddr::new(ip, port))
}

/// The text of a field that is a `StringValue`.
pub fn string_value<'a>(parent: &Place<'a>, field: &str) -> Option<Place<'a>> {
    let value = parent.get(field)?;
    (value.type_name() == Some(STRING_VALUE)).then(|| value.get("value"))?
}

fn listener(at: Place<'_>) -> Listener<'_> {
    let chains = at.list("filter_chains").into_iter();
    let filters = chains.flat_map(|chain| chain.list("filters"));
    let manager = filters
        .filter_map(|filter| filter.get("typed_config"))
        .find(|config| config.type_name() == Some(MANAGER));
    let filters = manager.as_ref().map(|manager| manager.list("http_filters"));
    let plugins = filters.iter().flatten().filter_map(plugin).collect();
    Listener {
        at,
        manager,
        plugins,
    }
}

fn cluster(at: Place<'_>) -> Cluster<'_> {
    let options = at
        .get("typed_extension_protocol_options")
        .and_then(|options| options.field(PROTOCOL_OPTIONS));
    let filters = options.map_or_else(Vec::new, |options| options.list("http_filters"));
    Cluster {
        name: at.text_at("name").unwrap_or_default(),
        plugins: filters.iter().filter_map(plugin).collect(),
        filters,
        at,
    }
}

fn plugin<'a>(at: &Place<'a>) -> Option<Plugin<'a>> {
    let wasm = at.get("typed_config")?;
    if wasm.type_name() != Some(WASM) {
        return None;
    }
    let config = wasm.get("config")?;
    let file = config.text_at("vm_config.code.local.filename");
    let stem = file
        .and_then(|file| file.rsplit('/').next())
        .and_then(|name| name.strip_suffix(".wasm"));
    Some(Plugin {
        at: at.clone(),
        module: stem.and_then(module),
        config,
    })
}

/// Whether a plugin runs a module of this side.
pub fn is_of(plugin: &Plugin<'_>, side: Side) -> bool {
    plugin.module.is_some_and(|module| module.side == side)
}
