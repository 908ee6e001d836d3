//! The modules of the filter chain: which, in which order, with what.

use std::collections::BTreeSet;

use dragoman_config::{AuthMode, Gateway};
use dragoman_contract::chain::{MODULES, Module, Side};

use super::{RenderOptions, fill::fill, scalar};

/// The document, after it was written out once.
const REFERENCE: &str = "configuration: *config";

/// A module in the chain of the listener.
struct Entry {
    /// Its name.
    name: &'static str,
    /// What a reader of the file should know.
    comment: &'static str,
    /// Whether the document wants it.
    is_on: fn(&Gateway) -> bool,
}

/// In no order: that is [`MODULES`]'s. Who calls is known before the body is read, and what is asked
/// for before anything is claimed or spent; what is claimed is known before a limit counts.
const ENTRIES: [Entry; 6] = [
    Entry {
        name: "poll",
        comment: "Asks the workers how they are, and for keys where they are handed out. First, so that a VM that trapped is revived by the next request, whatever becomes of it.",
        is_on: |gateway| {
            let auth = &gateway.auth;
            let keys = auth.key_store.is_some() || auth.polled_issuers().next().is_some();
            gateway.health.is_some() || keys
        },
    },
    Entry {
        name: "auth",
        comment: "Checks the caller's API key; who is refused here costs no body.",
        is_on: |gateway| gateway.auth.mode == AuthMode::On,
    },
    Entry {
        name: "alias",
        comment: "The one body reader: checks the request, turns the model's public name into an endpoint.",
        is_on: |_| true,
    },
    Entry {
        name: "idempotency",
        comment: "Answers a request that was carried out before; before rate_limit, so that a replay spends nothing.",
        is_on: |gateway| gateway.idempotency.is_some(),
    },
    Entry {
        name: "rate_limit",
        comment: "Takes a token from each bucket of the caller.",
        is_on: |gateway| !gateway.limits.is_empty(),
    },
    Entry {
        name: "select",
        comment: "Orders the candidates and hands them to Envoy as headers.",
        is_on: |_| true,
    },
];

/// The modules that a document wants in the chain of the listener, in their order.
pub fn wanted(gateway: &Gateway) -> impl Iterator<Item = &'static Module> {
    entries(gateway).map(|(module, _)| module)
}

fn entries(gateway: &Gateway) -> impl Iterator<Item = (&'static Module, &'static Entry)> {
    let downstream = MODULES.iter().filter(|module| module.side == Side::Request);
    downstream.filter_map(move |module| {
        let entry = ENTRIES.iter().find(|entry| entry.name == module.name)?;
        (entry.is_on)(gateway).then_some((module, entry))
    })
}

/// The entries of `http_filters` up to the router. The first one gives the document the anchor that
/// all others refer to.
pub fn filters(gateway: &Gateway, gateway_json: &str, options: &RenderOptions) -> String {
    let document = format!(
        "configuration: &config\n  {}",
        scalar::document(gateway_json)
    );
    let mut configuration = document.as_str();
    let mut out = String::new();
    for (module, entry) in entries(gateway) {
        out.push_str(&format!("# {}\n", entry.comment));
        let environment = environment(variables(gateway, module.name));
        out.push_str(&plugin(module.name, configuration, &environment, options));
        configuration = REFERENCE;
    }
    out
}

/// The entry of the upstream chain of each cluster, the only module that may read the variables with
/// the workers' credentials.
pub fn attempt(gateway: &Gateway, options: &RenderOptions) -> String {
    let environment = environment(variables(gateway, "attempt"));
    plugin("attempt", REFERENCE, &environment, options)
}

fn plugin(name: &str, configuration: &str, environment: &str, options: &RenderOptions) -> String {
    let file = scalar::quoted(&format!(
        "{}/{name}.wasm",
        options.modules.trim_end_matches('/')
    ));
    fill(
        include_str!("template/plugin.yaml"),
        &[
            ("name", name),
            ("configuration", configuration),
            ("environment", environment),
            ("file", &file),
        ],
    )
}

/// The variables whose secrets a module needs, and no other module may read.
pub fn variables<'g>(gateway: &'g Gateway, module: &str) -> BTreeSet<&'g str> {
    let workers = gateway.workers.iter().filter(|_| module == "attempt");
    let of_workers = workers.filter_map(|worker| worker.credential.as_ref());
    let store = gateway.auth.key_store.as_ref();
    let store = store.filter(|_| module == "poll");
    let of_store = store.and_then(|store| store.credential.as_ref());
    let credentials = of_workers.chain(of_store);
    let issuers = gateway.auth.issuers.iter().filter(|_| module == "auth");
    let secrets = issuers.flat_map(|issuer| &issuer.secrets);
    let of_issuers = secrets.map(|secret| secret.env.as_str());
    credentials
        .map(|credential| credential.env.as_str())
        .chain(of_issuers)
        .collect()
}

fn environment(variables: BTreeSet<&str>) -> String {
    if variables.is_empty() {
        return String::new();
    }
    let variables: Vec<String> = variables.into_iter().map(scalar::quoted).collect();
    format!(
        "environment_variables: {{host_env_keys: [{}]}}",
        variables.join(", ")
    )
}
