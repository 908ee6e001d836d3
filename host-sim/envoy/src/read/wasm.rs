//! `envoy.extensions.filters.http.wasm.v3.Wasm`

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use host_sim_host::config::{FailurePolicy, Plugin, VmConfig};

use crate::at::{At, Fields, Read};

const TYPE: &str = "envoy.extensions.filters.http.wasm.v3.Wasm";
const STRING_VALUE: &str = "google.protobuf.StringValue";
const RUNTIME: &str = "envoy.wasm.runtime.v8";
/// Envoy's default of `reload_config.backoff.base_interval`.
const RELOAD_INTERVAL: Duration = Duration::from_secs(1);

/// An entry of `http_filters` that is a plugin.
pub fn filter(at: &At<'_>) -> Read<Arc<Plugin>> {
    at.map(|filter| {
        filter.required("name")?.name()?;
        filter.required("typed_config")?.typed(TYPE, |wasm| {
            wasm.required("config")?.map(plugin).map(Arc::new)
        })
    })
}

fn plugin(fields: &mut Fields<'_>) -> Read<Plugin> {
    Ok(Plugin {
        name: fields.maybe("name", |at| at.string())?.unwrap_or_default(),
        root_id: fields
            .maybe("root_id", |at| at.string())?
            .unwrap_or_default(),
        configuration: configuration(fields)?,
        allow_on_headers_stop_iteration: fields.flag("allow_on_headers_stop_iteration")?,
        failure_policy: failure_policy(fields)?,
        vm: restricted(fields)?,
    })
}

fn configuration(fields: &mut Fields<'_>) -> Read<Vec<u8>> {
    let value = fields.maybe("configuration", |at| {
        at.typed(STRING_VALUE, |value| value.required("value")?.string())
    })?;
    Ok(value.unwrap_or_default().into_bytes())
}

fn failure_policy(fields: &mut Fields<'_>) -> Read<FailurePolicy> {
    let reload = FailurePolicy::Reload {
        base_interval: RELOAD_INTERVAL,
    };
    let choices = [
        ("UNSPECIFIED", FailurePolicy::Closed),
        ("FAIL_CLOSED", FailurePolicy::Closed),
        ("FAIL_OPEN", FailurePolicy::Open),
        ("FAIL_RELOAD", reload),
    ];
    let policy = fields.maybe("failure_policy", |at| at.choice(&choices))?;
    let policy = policy.unwrap_or(FailurePolicy::Closed);
    let Some(at) = fields.optional("reload_config") else {
        return Ok(policy);
    };
    if !matches!(policy, FailurePolicy::Reload { .. }) {
        return Err(at.problem("has no effect without FAIL_RELOAD"));
    }
    let interval = at.map(|reload| {
        reload.maybe("backoff", |at| {
            at.map(|backoff| backoff.required("base_interval")?.limit())
        })
    })?;
    Ok(FailurePolicy::Reload {
        base_interval: interval.unwrap_or(RELOAD_INTERVAL),
    })
}

/// `vm_config` with its capabilities, which may also stand beside it, as before Envoy 1.40. Its own win.
fn restricted(fields: &mut Fields<'_>) -> Read<VmConfig> {
    let beside = capabilities(fields)?;
    let mut config = fields.required("vm_config")?.map(vm)?;
    if config.allowed_capabilities.is_empty() {
        config.allowed_capabilities = beside;
    }
    Ok(config)
}

/// `capability_restriction_config`. The object behind each name has no fields yet.
fn capabilities(fields: &mut Fields<'_>) -> Read<BTreeSet<String>> {
    let names = fields.maybe("capability_restriction_config", |at| {
        at.map(|restriction| {
            restriction.maybe("allowed_capabilities", |at| {
                at.entries()?
                    .into_iter()
                    .map(|(name, at)| {
                        at.map(|_| Ok(()))?;
                        Ok(name.to_owned())
                    })
                    .collect::<Read<BTreeSet<String>>>()
            })
        })
    })?;
    Ok(names.flatten().unwrap_or_default())
}

fn vm(fields: &mut Fields<'_>) -> Read<VmConfig> {
    let runtime = fields.required("runtime")?;
    runtime.choice(&[(RUNTIME, ())])?;
    let (env, host_env_keys) = fields
        .maybe("environment_variables", environment)?
        .unwrap_or_default();
    Ok(VmConfig {
        vm_id: fields.maybe("vm_id", |at| at.string())?.unwrap_or_default(),
        configuration: configuration(fields)?,
        code_path: fields.required("code")?.map(|code| {
            code.required("local")?
                .map(|local| local.required("filename")?.name())
        })?,
        env,
        host_env_keys,
        allowed_capabilities: capabilities(fields)?,
    })
}

/// Variables with values, and names of the process's own.
fn environment(at: At<'_>) -> Read<(BTreeMap<String, String>, Vec<String>)> {
    at.map(|fields| {
        let host_env_keys = fields.list("host_env_keys", |at| at.name())?;
        let values = fields.maybe("key_values", |at| {
            at.entries()?
                .into_iter()
                .map(|(key, at)| Ok((key.to_owned(), at.string()?)))
                .collect()
        })?;
        let values: BTreeMap<String, String> = values.unwrap_or_default();
        let mut seen: BTreeSet<&str> = values.keys().map(String::as_str).collect();
        if let Some(key) = host_env_keys.iter().find(|key| !seen.insert(key)) {
            return Err(at.problem(format!("{key}: is there twice")));
        }
        Ok((values, host_env_keys))
    })
}
