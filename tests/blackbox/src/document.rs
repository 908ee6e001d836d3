//! The `gateway.json` of a test, built up from the parts that differ.

use std::net::SocketAddr;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::secrets::Secrets;

/// A gateway document that is complete once it has workers and endpoints.
#[derive(Clone, Debug)]
pub struct Document {
    value: Value,
    /// The keys whose digests it has.
    keys: Secrets,
}

impl Default for Document {
    fn default() -> Self {
        let value = json!({
            "version": 1,
            "max_body_bytes": 4_194_304,
            "auth": {"mode": "off"},
            "endpoints": [],
            "workers": [],
        });
        Self {
            value,
            keys: Secrets::default(),
        }
    }
}

impl Document {
    /// Adds a worker with these other fields.
    #[must_use]
    pub fn worker(mut self, id: &str, cluster: &str, address: SocketAddr, fields: Value) -> Self {
        let worker = json!({"id": id, "cluster": cluster, "address": address.to_string()});
        self.push("workers", with_fields(worker, fields));
        self
    }

    /// Adds an endpoint of mode `failover` whose targets are `(worker, served model name)`.
    #[must_use]
    pub fn endpoint(self, name: &str, targets: &[(&str, &str)]) -> Self {
        self.endpoint_with(name, targets, json!({}))
    }

    /// The same with other fields, which replace the usual ones.
    #[must_use]
    pub fn endpoint_with(mut self, name: &str, targets: &[(&str, &str)], fields: Value) -> Self {
        let targets: Vec<_> = targets
            .iter()
            .map(|(worker, served)| json!({"worker": worker, "served_model_name": served}))
            .collect();
        let endpoint = json!({
            "name": name, "version": "v1", "mode": "failover", "timeout_ms": 10_000,
            "max_attempts": targets.len().max(1), "targets": targets,
        });
        self.push("endpoints", with_fields(endpoint, fields));
        self
    }

    /// Adds a tenant with these other fields.
    #[must_use]
    pub fn tenant(mut self, id: &str, fields: Value) -> Self {
        self.push("tenants", with_fields(json!({"id": id}), fields));
        self
    }

    /// Adds an API key of app `app` with these other fields, and asks callers for one from now on.
    #[must_use]
    pub fn key(mut self, id: &str, secret: &str, tenant: &str, fields: Value) -> Self {
        let key = json!({"id": id, "sha256": sha256(secret), "tenant": tenant, "app": "app"});
        self.keys.add(secret);
        let auth = &mut self.value["auth"];
        auth["mode"] = json!("on");
        append(&mut auth["keys"], with_fields(key, fields));
        self
    }

    /// Sets a field of the top level.
    #[must_use]
    pub fn with(mut self, field: &str, value: Value) -> Self {
        self.value[field] = value;
        self
    }

    /// The document.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The keys of clients that it knows.
    pub(crate) fn keys(&self) -> &Secrets {
        &self.keys
    }

    fn push(&mut self, list: &str, item: Value) {
        append(&mut self.value[list], item);
    }
}

/// Begins the list where there is none.
fn append(list: &mut Value, item: Value) {
    if list.is_null() {
        *list = json!([]);
    }
    if let Some(list) = list.as_array_mut() {
        list.push(item);
    }
}

fn with_fields(mut object: Value, fields: Value) -> Value {
    if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), fields) {
        object.extend(fields);
    }
    object
}

/// SHA-256 in hexadecimal, as `auth.keys` has it.
fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
