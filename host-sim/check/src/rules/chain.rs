//! Which modules are there, and in which order.

use dragoman_contract::chain::{MODULES, Side};
use host_sim_envoy::wanted_modules;

use super::Rule;
use crate::facts::{Facts, Plugin, is_of};
use crate::finding::Notes;

pub const RULES: &[Rule] = &[order, complete, once, side];

/// Each module comes after those whose results it needs. Modules that are not the product's may stand
/// anywhere.
fn order(facts: &Facts<'_>, notes: &mut Notes) {
    for (listener, _) in facts.gates() {
        for (at, plugin) in listener.plugins.iter().enumerate() {
            let Some(module) = plugin.module else {
                continue;
            };
            for after in module.after {
                let later = listener.plugins.iter().skip(at + 1);
                if later
                    .clone()
                    .any(|other| other.module.is_some_and(|other| other.name == after.module))
                {
                    let what = format!(
                        "{} runs before {}: {}",
                        module.name, after.module, after.otherwise
                    );
                    notes.error(
                        "chain-order",
                        &plugin.at,
                        what,
                        format!(
                            "put {} behind {}; the whole order is {}",
                            module.name,
                            after.module,
                            whole_order()
                        ),
                    );
                }
            }
        }
    }
}

fn whole_order() -> String {
    let names = MODULES.iter().filter(|module| module.side == Side::Request);
    names
        .map(|module| module.name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// What the document switches on is in the chain.
fn complete(facts: &Facts<'_>, notes: &mut Notes) {
    let Some(gateway) = &facts.gateway else {
        return;
    };
    for (listener, manager) in facts.gates() {
        for module in wanted_modules(gateway) {
            let runs = |plugin: &Plugin<'_>| plugin.module.is_some_and(|other| other == module);
            if !listener.plugins.iter().any(runs) {
                let consequence = match module.name {
                    "poll" => {
                        "no worker is asked how it is, so select prefers nobody and leaves nobody out"
                    }
                    "auth" => {
                        "the document says that callers must be known, and nobody checks who calls"
                    }
                    "alias" => {
                        "nobody reads the model of a request, so every request is answered 500 misconfigured"
                    }
                    "idempotency" => {
                        "a repeated request is carried out again, though the document promises it is not"
                    }
                    "rate_limit" => "the limits of the document limit nobody",
                    _ => "no request finds a worker, so all are answered 503",
                };
                notes.error_in("chain-complete", manager, "http_filters", format!("{} is missing: {consequence}", module.name), format!("add the plugin {}, or switch its section of the document off; `host-sim render` writes the whole chain", module.name));
            }
        }
    }
}

/// No module runs twice for one request.
fn once(facts: &Facts<'_>, notes: &mut Notes) {
    for (listener, _) in facts.gates() {
        twice(&listener.plugins, notes);
    }
    for cluster in &facts.clusters {
        twice(&cluster.plugins, notes);
    }
}

fn twice(plugins: &[Plugin<'_>], notes: &mut Notes) {
    for (at, plugin) in plugins.iter().enumerate() {
        let Some(module) = plugin.module else {
            continue;
        };
        if plugins
            .iter()
            .take(at)
            .any(|other| other.module == Some(module))
        {
            let what = format!(
                "{} is in this chain already: it would count, claim and rewrite each request twice",
                module.name
            );
            notes.error("chain-once", &plugin.at, what, "take one of the two away");
        }
    }
}

/// `attempt` runs for each attempt, all others once for a request.
fn side(facts: &Facts<'_>, notes: &mut Notes) {
    for listener in &facts.listeners {
        for plugin in listener
            .plugins
            .iter()
            .filter(|plugin| is_of(plugin, Side::Attempt))
        {
            notes.error("chain-side", &plugin.at, "attempt stands in the chain of a listener: there is no worker yet whose model name and credential it could write, so every request is refused", "put it into the http_filters of the clusters of workers");
        }
    }
    for cluster in &facts.clusters {
        for plugin in cluster
            .plugins
            .iter()
            .filter(|plugin| is_of(plugin, Side::Request))
        {
            notes.error("chain-side", &plugin.at, format!("{} stands in the chain of a cluster: it would run once an attempt, when the request is already on its way", plugin.module.map_or("", |module| module.name)), "put it into the http_filters of the listener");
        }
    }
}
