//! How each plugin is set up.

use std::time::Duration;

use dragoman_contract::chain::Side;
use host_sim_envoy::Place;

use super::Rule;
use crate::Input;
use crate::facts::Facts;
use crate::finding::Notes;

pub const RULES: &[Rule] = &[
    headers_stop,
    failure_policy,
    configuration_is_text,
    same_document,
    same_vm_id,
    names_fit,
];

/// Longest time that a thread answers 503 after a trap. With Envoy's default of 1 s about half of the
/// requests were lost while VMs trapped under load, with 0.1 s less than 3 %.
const LONGEST_BACK_OFF: Duration = Duration::from_millis(500);

/// Who holds the headers until the body is complete must be let see the body.
fn headers_stop(facts: &Facts<'_>, notes: &mut Notes) {
    const FIELD: &str = "allow_on_headers_stop_iteration";
    for plugin in facts.own_plugins() {
        let Some(module) = plugin.module.filter(|module| module.holds_body) else {
            continue;
        };
        if plugin.config.is_true(FIELD) {
            continue;
        }
        let limit = longest_silence(facts, module.side);
        let what = format!(
            "is not true: {} holds the headers until it has read the body, and without it the body never comes to it, so every request with a body hangs until the idle limit ({limit})",
            module.name
        );
        notes.error_in(
            "headers-stop",
            &plugin.config,
            FIELD,
            what,
            format!("{FIELD}: true"),
        );
    }
}

fn longest_silence(facts: &Facts<'_>, side: Side) -> String {
    let mut gates = facts.gates();
    let field = match side {
        Side::Request => gates.find_map(|(_, manager)| manager.text_at("stream_idle_timeout")),
        Side::Attempt => None,
    };
    match (field, side) {
        (Some(limit), _) => limit.to_owned(),
        (None, Side::Request) => "5 minutes, Envoy's default".to_owned(),
        (None, Side::Attempt) => "that of the route".to_owned(),
    }
}

/// After a trap there is a new VM, and soon.
fn failure_policy(facts: &Facts<'_>, notes: &mut Notes) {
    for plugin in facts.own_plugins() {
        let policy = plugin
            .config
            .text_at("failure_policy")
            .unwrap_or("UNSPECIFIED");
        let open = policy == "FAIL_OPEN" || plugin.config.is_true("fail_open");
        let name = plugin.name();
        if open {
            let field = if policy == "FAIL_OPEN" {
                "failure_policy"
            } else {
                "fail_open"
            };
            notes.error_in("failure-policy", &plugin.config, field, format!("lets requests pass without {name} after a trap: whatever it checks or writes is then not checked and not written"), "failure_policy: FAIL_RELOAD");
        } else if policy != "FAIL_RELOAD" {
            notes.error_in("failure-policy", &plugin.config, "failure_policy", format!("is not FAIL_RELOAD: once {name} has trapped on a thread, every request of that thread is answered 503 until Envoy is restarted"), "failure_policy: FAIL_RELOAD");
        } else {
            let field = "reload_config.backoff.base_interval";
            let interval = plugin
                .config
                .duration_at(field)
                .unwrap_or(Duration::from_secs(1));
            if interval > LONGEST_BACK_OFF {
                let ms = interval.as_millis();
                notes.warning_in("failure-policy", &plugin.config, field, format!("{ms} ms: so long a thread answers 503 after a second trap of {name}; with 1 s, Envoy's default, half of all requests were lost while a few of them trapped"), "reload_config: {backoff: {base_interval: 0.1s}}");
            }
        }
    }
}

/// A module reads text; anything else reaches it as the bytes of a message.
fn configuration_is_text(facts: &Facts<'_>, notes: &mut Notes) {
    for plugin in facts.own_plugins() {
        match plugin.config.get("configuration") {
            None => notes.error_in("plugin-configuration", &plugin.config, "configuration", format!("is missing: {} does not start without the gateway's document", plugin.name()), "configuration: {\"@type\": type.googleapis.com/google.protobuf.StringValue, value: ...}, with the text of gateway.json"),
            Some(place) if plugin.document().is_none() => {
                let kind = place.type_name().unwrap_or("without a type").to_owned();
                notes.error("plugin-configuration", &place, format!("is {kind} and not a StringValue: it reaches the module as the bytes of a protobuf message, not as JSON, and Envoy does not start"), "use google.protobuf.StringValue with the text of gateway.json as value");
            }
            Some(_) => {}
        }
    }
}

/// All plugins have one document.
fn same_document(facts: &Facts<'_>, notes: &mut Notes) {
    let Some(first) = &facts.document else { return };
    for plugin in facts.own_plugins() {
        let Some(document) = plugin.document() else {
            continue;
        };
        if document.text() != first.text() {
            notes.error("same-document", &document, format!("{} has another document than the plugins before it: what one of them calls a worker or an endpoint the next one does not know", plugin.name()), "give all plugins one document by an anchor: `configuration: &config` once, `configuration: *config` after it");
        }
    }
}

/// The document in the file is the one that was given beside it.
pub fn document_is_the_written_one(facts: &Facts<'_>, written: &Input, notes: &mut Notes) {
    let Some(document) = &facts.document else {
        return;
    };
    if document.text().map(str::trim_end) != Some(written.text.trim_end()) {
        notes.warning("stale", document, format!("is not what {} says: a change there has not been rendered, or one here would be lost", written.name), format!("host-sim render {} > FILE", written.name));
    }
}

/// Who shares data has one `vm_id`.
fn same_vm_id(facts: &Facts<'_>, notes: &mut Notes) {
    const FIELD: &str = "vm_config.vm_id";
    let id = |config: &Place<'_>| config.text_at(FIELD).unwrap_or_default().to_owned();
    let mut plugins = facts.own_plugins();
    let Some(first) = plugins.next() else { return };
    let (expected, name) = (id(&first.config), first.name());
    for plugin in plugins {
        let found = id(&plugin.config);
        if found != expected {
            notes.error_in("vm-id", &plugin.config, FIELD, format!("{found:?}, but {name} has {expected:?}: shared data goes by vm_id, so what one of the two learns of workers, limits and keys the other never sees"), format!("vm_id: {expected}"));
        }
    }
}

/// A plugin that is called after one module and runs another misleads whoever reads the log.
fn names_fit(facts: &Facts<'_>, notes: &mut Notes) {
    for plugin in facts.plugins() {
        let called = dragoman_contract::chain::module(plugin.name());
        if let (Some(called), Some(file)) = (called, plugin.file())
            && plugin.module != Some(called)
        {
            notes.warning(
                "plugin-name",
                &file,
                format!(
                    "the plugin is called {} and runs {}: it is checked as what it runs",
                    called.name,
                    file.text().unwrap_or_default()
                ),
                "name the plugin after its module",
            );
        }
    }
}
