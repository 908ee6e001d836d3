//! A guest in a chain.

use blackbox::shell::modules;
use serde_json::{Value, json};

use super::raw::TYPE;

/// A module in a chain.
#[derive(Clone)]
pub(super) struct Plugin {
    name: String,
    module: &'static str,
    words: String,
    vm: String,
    vm_id: String,
    headers_stop: bool,
}

/// A plugin of the given name with these words, in a VM of its own.
pub(super) fn probe(name: &str, words: &[&str]) -> Plugin {
    Plugin {
        name: name.to_owned(),
        module: "probe",
        words: words.join("\n"),
        vm: name.to_owned(),
        vm_id: "test".to_owned(),
        headers_stop: true,
    }
}

/// A guest that takes no configuration.
pub(super) fn guest(module: &'static str) -> Plugin {
    Plugin {
        module,
        ..probe(module, &[])
    }
}

impl Plugin {
    /// In the VM of another plugin of the same module.
    pub(super) fn in_vm(self, vm: &str) -> Self {
        Self {
            vm: vm.to_owned(),
            ..self
        }
    }

    /// With shared data of its own.
    pub(super) fn with_vm_id(self, vm_id: &str) -> Self {
        Self {
            vm_id: vm_id.to_owned(),
            ..self
        }
    }

    /// Without `allow_on_headers_stop_iteration`.
    pub(super) fn without_headers_stop(self) -> Self {
        Self {
            headers_stop: false,
            ..self
        }
    }

    /// An entry of `http_filters`.
    pub(super) fn filter(&self) -> Value {
        let file = modules().join(format!("guests/{}.wasm", self.module));
        assert!(
            file.is_file(),
            "there are no guests: run scripts/build-filters --guests first"
        );
        let string = |value: &str| json!({"@type": "type.googleapis.com/google.protobuf.StringValue", "value": value});
        json!({"name": self.name, "typed_config": {
            "@type": format!("{TYPE}.filters.http.wasm.v3.Wasm"),
            "config": {
                "name": self.name,
                "root_id": self.name,
                "configuration": string(&self.words),
                "allow_on_headers_stop_iteration": self.headers_stop,
                "failure_policy": "FAIL_RELOAD",
                "reload_config": {"backoff": {"base_interval": "0.1s"}},
                "vm_config": {
                    "vm_id": self.vm_id,
                    "configuration": string(&self.vm),
                    "runtime": "envoy.wasm.runtime.v8",
                    "code": {"local": {"filename": file.display().to_string()}},
                },
            },
        }})
    }
}
