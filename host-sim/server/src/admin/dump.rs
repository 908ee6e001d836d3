//! `/config_dump`: the configuration that is served, without secrets.

use std::path::Path;
use std::time::Duration;

use host_sim_envoy::{Document, Place};
use serde_json::{Map, Value, json};

use crate::clock::date_text;
use crate::reload::Status;

/// What stands in the place of a secret.
const REDACTED: &str = "[redacted]";

/// Text under a key with one of these in its name is not shown. Digests of keys are among them: a key
/// that somebody made up can be guessed from its digest.
const SECRET_WORDS: [&str; 10] = [
    "secret",
    "password",
    "passwd",
    "passphrase",
    "token",
    "api_key",
    "apikey",
    "private_key",
    "authorization",
    "sha256",
];

/// Envoy's `ConfigDump` with the bootstrap, and what only the simulator knows.
pub fn document(status: &Status, source: &Path) -> Value {
    let refused = status
        .last_refused
        .as_ref()
        .map(|(at, reason)| json!({"at": timestamp(*at), "reason": reason}));
    json!({
        "configs": [{
            "@type": "type.googleapis.com/envoy.admin.v3.BootstrapConfigDump",
            "bootstrap": bootstrap(&status.yaml),
            "last_updated": timestamp(status.taken_at),
        }],
        "host_sim": {
            "source": source.display().to_string(),
            "version": status.version,
            "taken_at": timestamp(status.taken_at),
            "refused": status.refused,
            "last_refused": refused,
        },
    })
}

fn timestamp(wall: Duration) -> String {
    format!("{}Z", date_text(wall).replace(' ', "T"))
}

fn bootstrap(yaml: &str) -> Value {
    match Document::parse(yaml) {
        Ok(document) => value(&document.root(), false),
        // It was read before.
        Err(problem) => Value::String(problem.to_string()),
    }
}

/// `hidden`: all text in it is a secret.
fn value(place: &Place<'_>, hidden: bool) -> Value {
    if place.is_map() {
        let entries = place.entries().into_iter().map(|(key, place)| {
            let hidden = hidden || key == "key_values";
            let shown = match place.text() {
                Some(_) if is_secret(key) => Value::String(REDACTED.to_owned()),
                _ => value(&place, hidden),
            };
            (key.to_owned(), shown)
        });
        return Value::Object(entries.collect());
    }
    if place.is_list() {
        let items = place.items().into_iter().map(|item| value(&item, hidden));
        return Value::Array(items.collect());
    }
    match place.text() {
        _ if hidden => Value::String(REDACTED.to_owned()),
        Some(text) if place.is_plain() => plain(place, text),
        Some(text) => Value::String(document_in(text)),
        None => Value::Null,
    }
}

/// Text without quotes: a number, a boolean, nothing, or text.
fn plain(place: &Place<'_>, text: &str) -> Value {
    match (place.boolean(), text.parse::<i64>(), text.parse::<f64>()) {
        (Some(boolean), ..) => Value::Bool(boolean),
        (_, Ok(number), _) => number.into(),
        (_, _, Ok(number)) if text.contains('.') => number.into(),
        _ if matches!(text, "" | "~" | "null") => Value::Null,
        _ => Value::String(text.to_owned()),
    }
}

/// The configuration of a plugin is a document in a string.
fn document_in(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(mut document @ (Value::Object(_) | Value::Array(_))) => {
            redact(&mut document);
            document.to_string()
        }
        _ => text.to_owned(),
    }
}

fn redact(document: &mut Value) {
    match document {
        Value::Object(fields) => redact_fields(fields),
        Value::Array(items) => items.iter_mut().for_each(redact),
        _ => {}
    }
}

fn redact_fields(fields: &mut Map<String, Value>) {
    for (key, value) in fields {
        if value.is_string() && is_secret(key) {
            *value = Value::String(REDACTED.to_owned());
        } else {
            redact(value);
        }
    }
}

fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| key.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_shown_wherever_it_stands() {
        let yaml = r#"
static_resources:
  clusters:
  - connect_timeout: 1.5s
    dns: off
    port_value: 8000
    environment_variables:
      key_values: {A: hunter2, B: [hunter2]}
      host_env_keys: [W1_KEY]
    configuration:
      value: |
        {"auth":{"keys":[{"id":"k1","sha256":"hunter2"}]},"workers":[{"api_key":"hunter2","weight":3}]}
    password: hunter2
"#;
        let shown = bootstrap(yaml);
        let cluster = &shown["static_resources"]["clusters"][0];
        assert!(!shown.to_string().contains("hunter2"), "{shown}");
        assert_eq!(cluster["connect_timeout"], "1.5s");
        assert_eq!(cluster["dns"], false);
        assert_eq!(cluster["port_value"], 8000);
        let host = &cluster["environment_variables"]["host_env_keys"][0];
        assert_eq!(host, "W1_KEY");
        let configuration = cluster["configuration"]["value"].as_str().unwrap();
        assert!(configuration.contains(r#""id":"k1""#), "{configuration}");
        assert!(configuration.contains(r#""weight":3"#), "{configuration}");
    }
}
