//! Starts each plugin's module with its configuration, as Envoy does at its own start, and says what it
//! said.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use dragoman_contract::chain::MODULES;
use host_sim_envoy::{Place, wanted_variables};
use host_sim_host::abi::VmFactory;
use host_sim_host::config::{Bootstrap, Plugin as Config, VmConfig};
use host_sim_host::io::{Command, Now};
use host_sim_host::{Process, StartError, Worker};
use refusals::Refusal;

mod refusals;

use crate::Options;
use crate::facts::{Facts, Plugin, string_value};
use crate::finding::Notes;

/// A file with one plugin, whose parts are replaced.
const STAGE: &str = include_str!("modules/stage.yaml");
/// What a variable holds that is set only where Envoy runs: any text that a header value may be.
const PLACEHOLDER: &str = "set-where-envoy-runs";
/// All random numbers of a start come from it.
const SEED: u64 = 1;

/// Starts every plugin; one that refuses does not keep the others from being started.
pub fn check(facts: &Facts<'_>, options: &Options, notes: &mut Notes) {
    let Some(vms) = &options.vms else {
        return;
    };
    let Ok(stage) = host_sim_envoy::read(STAGE) else {
        return;
    };
    let mut refusals = Vec::new();
    let mut started: Vec<Config> = Vec::new();
    for plugin in facts.plugins() {
        let Some(config) = configured(facts, &stage, plugin, options) else {
            continue;
        };
        if started.contains(&config) {
            continue;
        }
        capabilities(plugin, &config.vm, vms.as_ref(), notes);
        match start(&stage, &config, environment(&config.vm, options), vms) {
            Ok(said) => complaints(plugin, &said, notes),
            Err(StartError::Load(error)) => not_loaded(plugin, &error.reason, options, notes),
            Err(StartError::Refused { log, .. }) => refusals.push(Refusal { plugin, said: log }),
        }
        started.push(config);
    }
    refusals::note(&refusals, notes);
}

/// The plugin in the form of the engine; `None` if its configuration is no text or its code no file,
/// which rules say.
fn configured(
    facts: &Facts<'_>,
    stage: &Bootstrap,
    plugin: &Plugin<'_>,
    options: &Options,
) -> Option<Config> {
    let model = stage.listeners.first()?.http.filters.first()?;
    let mut config = Config::clone(model);
    let text = |field: &str| plugin.config.text_at(field).unwrap_or_default().to_owned();
    config.name = text("name");
    config.root_id = text("root_id");
    config.configuration = match plugin.config.get("configuration") {
        Some(_) => plugin.document()?.text()?.as_bytes().to_vec(),
        None => Vec::new(),
    };
    let vm = plugin.config.get("vm_config")?;
    let configuration = string_value(&vm, "configuration").and_then(|place| place.text());
    config.vm.vm_id = text("vm_config.vm_id");
    config.vm.configuration = configuration.unwrap_or_default().into();
    config.vm.code_path = code_path(plugin.file()?.text()?, options);
    let keys = vm.list("environment_variables.host_env_keys");
    config.vm.host_env_keys = keys
        .iter()
        .filter_map(|key| key.text())
        .map(str::to_owned)
        .collect();
    let values = vm.get("environment_variables.key_values");
    let values = values.map_or_else(Vec::new, |values| values.entries());
    let values = values
        .iter()
        .filter_map(|(key, value)| Some(((*key).to_owned(), value.text()?.to_owned())));
    config.vm.env = values.collect();
    config.vm.allowed_capabilities = restriction(plugin).map_or_else(BTreeSet::new, |allowed| {
        let names = allowed.entries().into_iter();
        names.map(|(name, _)| name.to_owned()).collect()
    });
    // A rule says which variables are missing; here the rest of the configuration is to be tried.
    let module = plugin.module.map_or("", |module| module.name);
    for name in variables(facts, module) {
        if !config.vm.env.contains_key(name)
            && !config.vm.host_env_keys.iter().any(|key| key == name)
        {
            config.vm.host_env_keys.push(name.to_owned());
        }
    }
    Some(config)
}

/// The variables that the document names for a module.
pub fn variables<'f>(facts: &'f Facts<'_>, module: &str) -> BTreeSet<&'f str> {
    let gateway = facts.gateway.iter();
    gateway
        .flat_map(|gateway| wanted_variables(gateway, module))
        .collect()
}

/// The variables that the document names for any module.
pub fn credentials<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = &'f str> {
    let each = MODULES.iter().map(|module| variables(facts, module.name));
    each.flatten().collect::<BTreeSet<&str>>().into_iter()
}

fn code_path(file: &str, options: &Options) -> String {
    match (&options.modules, file.rsplit('/').next()) {
        (Some(folder), Some(name)) => format!("{}/{name}", folder.trim_end_matches('/')),
        _ => file.to_owned(),
    }
}

fn environment(vm: &VmConfig, options: &Options) -> BTreeMap<String, String> {
    match &options.environment {
        Some(environment) => environment.clone(),
        None => vm
            .host_env_keys
            .iter()
            .map(|key| (key.clone(), PLACEHOLDER.to_owned()))
            .collect(),
    }
}

/// Starts one plugin in a process of its own; gives what was logged at warning level and above.
fn start(
    stage: &Bootstrap,
    plugin: &Config,
    environment: BTreeMap<String, String>,
    vms: &Arc<dyn VmFactory>,
) -> Result<Vec<String>, StartError> {
    let mut config = stage.clone();
    for listener in &mut config.listeners {
        listener.http.filters = vec![Arc::new(plugin.clone())];
    }
    let process = Process::new(config, environment, SEED);
    let now = Now {
        monotonic: Duration::ZERO,
        wall: Duration::ZERO,
    };
    let mut worker = Worker::start(process, 0, Arc::clone(vms), now)?;
    let loud = |command| match command {
        Command::Log {
            level: "warning" | "error" | "critical",
            text,
        } => Some(text),
        _ => None,
    };
    Ok(worker
        .take_commands()
        .into_iter()
        .filter_map(loud)
        .collect())
}

fn complaints(plugin: &Plugin<'_>, said: &[String], notes: &mut Notes) {
    for text in said {
        let what = format!("{} starts, but says: {text}", plugin.name());
        notes.warning(
            "module-says",
            &plugin.at,
            what,
            "read the README of the module",
        );
    }
}

fn not_loaded(plugin: &Plugin<'_>, reason: &str, options: &Options, notes: &mut Notes) {
    let file = plugin.file();
    let at = file.as_ref().unwrap_or(&plugin.at);
    let name = code_path(at.text().unwrap_or_default(), options);
    let what = format!("{name}: {reason}: Envoy does not start without it");
    let fix = "build the modules (scripts/build-filters), start where their paths lead to them, or say where they are with --modules DIR";
    notes.error("module-load", at, what, fix);
}

/// What a plugin may use; its VM's own restriction wins, as in Envoy, unless it is empty.
fn restriction<'a>(plugin: &Plugin<'a>) -> Option<Place<'a>> {
    [
        "vm_config.capability_restriction_config",
        "capability_restriction_config",
    ]
    .iter()
    .filter_map(|field| plugin.config.get(&format!("{field}.allowed_capabilities")))
    .find(|allowed| !allowed.entries().is_empty())
}

/// A capability restriction must leave each module what it asks for.
fn capabilities(plugin: &Plugin<'_>, vm: &VmConfig, vms: &dyn VmFactory, notes: &mut Notes) {
    let (Some(restriction), Ok(asked)) = (restriction(plugin), vms.capabilities(vm)) else {
        return;
    };
    let allowed: BTreeSet<&str> = vm.allowed_capabilities.iter().map(String::as_str).collect();
    let asked: BTreeSet<&str> = asked.iter().map(String::as_str).collect();
    let missing: Vec<&str> = asked.difference(&allowed).copied().collect();
    if !missing.is_empty() {
        let what = format!(
            "lacks what {} asks for: {}: a host call that is denied fails and a callback that is denied does not run, so requests pass the module unseen or fail",
            plugin.name(),
            missing.join(", ")
        );
        notes.error(
            "capabilities",
            &restriction,
            what,
            "allow them too, or leave the restriction out",
        );
    }
}
