//! How credentials reach the one module that may read each.

use dragoman_contract::chain::MODULES;

use super::Rule;
use crate::facts::Facts;
use crate::finding::Notes;
use crate::modules::{credentials, variables};

pub const RULES: &[Rule] = &[let_through, no_secret, nobody_else];

/// Each module sees the variables that the document names for it.
fn let_through(facts: &Facts<'_>, notes: &mut Notes) {
    const FIELD: &str = "vm_config.environment_variables.host_env_keys";
    for plugin in facts.own_plugins() {
        let module = plugin.module.map_or("", |module| module.name);
        let wanted = variables(facts, module);
        let keys = plugin.config.list(FIELD);
        let values = plugin
            .config
            .get("vm_config.environment_variables.key_values");
        let there = |name: &str| {
            keys.iter().any(|key| key.text() == Some(name))
                || values
                    .as_ref()
                    .is_some_and(|values| values.field(name).is_some())
        };
        let missing: Vec<&str> = wanted.iter().copied().filter(|name| !there(name)).collect();
        if !missing.is_empty() {
            notes.error_in("credentials", &plugin.config, FIELD, format!("lacks {}: the document names it as a credential, {module} cannot read it, and Envoy does not start", missing.join(", ")), format!("host_env_keys: [{}]", wanted.into_iter().collect::<Vec<_>>().join(", ")));
        }
    }
}

/// No secret stands in the file.
fn no_secret(facts: &Facts<'_>, notes: &mut Notes) {
    for plugin in facts.plugins() {
        let values = plugin
            .config
            .get("vm_config.environment_variables.key_values");
        for (name, place) in values.map_or_else(Vec::new, |values| values.entries()) {
            let secret = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"]
                .iter()
                .any(|word| name.to_ascii_uppercase().contains(word));
            if secret || credentials(facts).any(|known| known == name) {
                notes.error("literal-secret", &place, format!("{name} has its value in this file: whoever reads the file or Envoy's config dump has the secret"), "set it in the environment of Envoy and name it in host_env_keys");
            }
        }
    }
}

/// Other modules have no business with them.
fn nobody_else(facts: &Facts<'_>, notes: &mut Notes) {
    for plugin in facts.plugins() {
        let own = variables(facts, plugin.module.map_or("", |module| module.name));
        for key in plugin
            .config
            .list("vm_config.environment_variables.host_env_keys")
        {
            let Some(name) = credentials(facts).find(|name| Some(*name) == key.text()) else {
                continue;
            };
            if own.contains(name) {
                continue;
            }
            let holders = MODULES.iter().map(|module| module.name);
            let holders = holders.filter(|module| variables(facts, module).contains(name));
            let holders = holders.collect::<Vec<_>>().join(", ");
            let file = plugin
                .file()
                .and_then(|file| file.text())
                .unwrap_or_default();
            notes.warning(
                "credentials",
                &key,
                format!("{file} can read {name}, a credential that only {holders} needs"),
                format!("name it in the plugin {holders} only"),
            );
        }
    }
}
