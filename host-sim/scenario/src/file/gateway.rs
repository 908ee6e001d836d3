//! What is deployed: a `gateway.json` in place, or the path of one or of an `envoy.yaml`.

use host_sim_envoy::yaml::{At, Read, Value as Yaml};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::model::Gateway;
use super::parts::Keys;
use super::{fault, json};

/// What a client sends for the key of this name.
#[must_use]
pub fn key_text(name: &str) -> String {
    format!("sk-scenario-{name}")
}

/// What the gateway is told of the key of this name.
pub fn key_digest(name: &str) -> String {
    let digest = Sha256::digest(key_text(name));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `gateway`
pub fn gateway(at: &At<'_>, keys: &Keys) -> Read<Gateway> {
    if let Yaml::Map(_) = at.value() {
        return inline(at, keys);
    }
    let path = at.name()?;
    if !keys.is_empty() {
        return Err(fault(
            at,
            "a file has its own keys: leave out keys, or write the gateway here",
        ));
    }
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("json") => Ok(Gateway::Json(path)),
        Some("yaml" | "yml") => Ok(Gateway::Envoy(path)),
        _ => Err(fault(
            at,
            format!(
                "{path}: must be a map, a .json file (gateway.json) or a .yaml file (envoy.yaml)"
            ),
        )),
    }
}

fn inline(at: &At<'_>, keys: &Keys) -> Read<Gateway> {
    let mut document = json::json(at)?;
    if !keys.is_empty() {
        add(&mut document, keys)
            .ok_or_else(|| fault(at, "auth: must be a map whose keys are a list"))?;
    }
    let text = document.to_string();
    match dragoman_config::parse(text.as_bytes()) {
        Ok(_) => Ok(Gateway::Inline(text)),
        Err(error) => {
            let value = error.value.map(|value| format!("{value}: "));
            let what = format!("{}{}", value.unwrap_or_default(), error.reason);
            let mut problem = fault(&place(at, &error.path), what);
            if !error.path.is_empty() {
                problem.path = format!("{}.{}", at.path(), error.path);
            }
            Err(problem)
        }
    }
}

/// The keys of the scenario behind those of the document.
fn add(document: &mut Value, keys: &Keys) -> Option<()> {
    let auth = document
        .as_object_mut()?
        .entry("auth")
        .or_insert_with(|| json!({}));
    let list = auth
        .as_object_mut()?
        .entry("keys")
        .or_insert_with(|| json!([]));
    list.as_array_mut()?.extend(keys.values().cloned());
    Some(())
}

/// The value that a path like `endpoints[0].name` leads to, as far as it is there.
fn place<'a>(at: &At<'a>, path: &str) -> At<'a> {
    let mut place = at.clone();
    for step in path.split(['.', '[']).filter(|step| !step.is_empty()) {
        let next = match step.strip_suffix(']') {
            Some(index) => index
                .parse::<usize>()
                .ok()
                .and_then(|index| place.items().ok()?.into_iter().nth(index)),
            None => {
                let entries = place.entries().unwrap_or_default().into_iter();
                entries
                    .filter(|(key, _)| *key == step)
                    .map(|(_, at)| at)
                    .next()
            }
        };
        match next {
            Some(next) => place = next,
            None => break,
        }
    }
    place
}
