//! A guest in a chain.

use serde_json::{Value, json};

use crate::raw::TYPE;
use crate::shell::modules;

/// A module in a chain.
#[derive(Clone)]
pub struct Plugin {
    name: String,
    module: Module,
    words: String,
    vm: String,
    vm_id: String,
    fields: Value,
    vm_fields: Value,
}

#[derive(Clone)]
enum Module {
    /// Of `tests/guests`.
    Built(&'static str),
    /// A file of the test's own.
    File(String),
}

/// A plugin of the given name with these words, in a VM of its own.
#[must_use]
pub fn probe(name: &str, words: &[&str]) -> Plugin {
    Plugin {
        name: name.to_owned(),
        module: Module::Built("probe"),
        words: words.join("\n"),
        vm: name.to_owned(),
        vm_id: "test".to_owned(),
        fields: json!({
            "allow_on_headers_stop_iteration": true,
            "failure_policy": "FAIL_RELOAD",
            "reload_config": {"backoff": {"base_interval": "0.1s"}},
        }),
        vm_fields: json!({}),
    }
}

/// A guest that takes no configuration.
#[must_use]
pub fn guest(module: &'static str) -> Plugin {
    Plugin {
        module: Module::Built(module),
        ..probe(module, &[])
    }
}

/// A guest that carries out this script, in a VM of its own and with Envoy's defaults for all else
/// (`tests/guests/README.md` has the steps).
#[must_use]
pub fn scripted(name: &str, script: &str) -> Plugin {
    Plugin {
        module: Module::Built("scripted"),
        words: script.to_owned(),
        vm: format!("// {name}"),
        vm_id: String::new(),
        fields: json!({}),
        ..probe(name, &[])
    }
}

impl Plugin {
    /// In the VM of another plugin of the same module.
    #[must_use]
    pub fn in_vm(self, vm: &str) -> Self {
        Self {
            vm: vm.to_owned(),
            ..self
        }
    }

    /// With shared data of its own.
    #[must_use]
    pub fn with_vm_id(self, vm_id: &str) -> Self {
        Self {
            vm_id: vm_id.to_owned(),
            ..self
        }
    }

    /// Another module, by its file.
    #[must_use]
    pub fn with_code(self, file: &str) -> Self {
        Self {
            module: Module::File(file.to_owned()),
            ..self
        }
    }

    /// Without `allow_on_headers_stop_iteration`.
    #[must_use]
    pub fn without_headers_stop(self) -> Self {
        self.field("allow_on_headers_stop_iteration", json!(false))
    }

    /// With `allow_on_headers_stop_iteration`.
    #[must_use]
    pub fn with_headers_stop(self) -> Self {
        self.field("allow_on_headers_stop_iteration", json!(true))
    }

    /// Sets a field of the plugin's configuration; `null` takes it away.
    #[must_use]
    pub fn field(mut self, name: &str, value: Value) -> Self {
        match self.fields.as_object_mut() {
            Some(fields) if value.is_null() => {
                fields.remove(name);
            }
            _ => self.fields[name] = value,
        }
        self
    }

    /// Sets a field of `vm_config`.
    #[must_use]
    pub fn vm_field(mut self, name: &str, value: Value) -> Self {
        self.vm_fields[name] = value;
        self
    }

    /// An entry of `http_filters`.
    ///
    /// # Panics
    /// When the module has not been built.
    #[must_use]
    pub fn filter(&self) -> Value {
        let string = |value: &str| json!({"@type": "type.googleapis.com/google.protobuf.StringValue", "value": value});
        let mut vm = json!({
            "vm_id": self.vm_id,
            "configuration": string(&self.vm),
            "runtime": "envoy.wasm.runtime.v8",
            "code": {"local": {"filename": self.file()}},
        });
        extend(&mut vm, &self.vm_fields);
        let mut config = json!({
            "name": self.name,
            "root_id": self.name,
            "configuration": string(&self.words),
            "vm_config": vm,
        });
        extend(&mut config, &self.fields);
        json!({"name": self.name, "typed_config": {
            "@type": format!("{TYPE}.filters.http.wasm.v3.Wasm"),
            "config": config,
        }})
    }

    fn file(&self) -> String {
        match &self.module {
            Module::File(file) => file.clone(),
            Module::Built(name) => {
                let file = modules().join(format!("guests/{name}.wasm"));
                assert!(
                    file.is_file(),
                    "there is no {}: run scripts/build-filters --guests first",
                    file.display()
                );
                file.display().to_string()
            }
        }
    }
}

fn extend(value: &mut Value, more: &Value) {
    if let (Some(object), Some(more)) = (value.as_object_mut(), more.as_object()) {
        object.extend(more.clone());
    }
}
