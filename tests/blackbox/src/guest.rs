//! Small guests of the tests' own, to be put beside the product's filters.

use std::path::Path;

use crate::shell::repository;

/// A guest of `tests/blackbox/guests/`, written in WebAssembly's text form, and its place.
#[derive(Clone, Copy, Debug)]
pub struct Guest {
    name: &'static str,
    place: Place,
    headers_stop_iteration: bool,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    FirstDownstream,
    FirstUpstream,
}

/// The line behind which the filters of a chain stand, by its indentation.
const DOWNSTREAM_CHAIN: &str = "\n          http_filters:\n";
const UPSTREAM_CHAIN: &str = "\n        http_filters:\n";

impl Guest {
    /// Before all filters of the listener.
    #[must_use]
    pub fn downstream(name: &'static str) -> Self {
        Self {
            name,
            place: Place::FirstDownstream,
            headers_stop_iteration: true,
        }
    }

    /// Before all filters of the clusters.
    #[must_use]
    pub fn upstream(name: &'static str) -> Self {
        Self {
            name,
            place: Place::FirstUpstream,
            headers_stop_iteration: true,
        }
    }

    /// Without `allow_on_headers_stop_iteration`.
    #[must_use]
    pub fn without_headers_stop(self) -> Self {
        Self {
            headers_stop_iteration: false,
            ..self
        }
    }

    pub(crate) fn insert(self, yaml: &str, folder: &Path) -> String {
        let source = repository()
            .join("tests/blackbox/guests")
            .join(self.name)
            .with_extension("wat");
        let module = wat::parse_file(&source)
            .unwrap_or_else(|problem| panic!("{}: {problem}", source.display()));
        let file = folder.join(self.name).with_extension("wasm");
        std::fs::write(&file, module).expect("the test's folder can be written");
        let (chain, indent) = match self.place {
            Place::FirstDownstream => (DOWNSTREAM_CHAIN, 10),
            Place::FirstUpstream => (UPSTREAM_CHAIN, 8),
        };
        let text = self.plugin(&file);
        let lines: String = text
            .lines()
            .map(|line| format!("{:indent$}{line}\n", ""))
            .collect();
        assert!(yaml.contains(chain), "the YAML has such a chain");
        yaml.replacen(chain, &format!("{chain}{lines}"), 1)
    }

    fn plugin(self, file: &Path) -> String {
        let Self {
            name,
            headers_stop_iteration: flag,
            ..
        } = self;
        format!(
            r#"- name: {name}
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm
    config:
      name: {name}
      root_id: {name}
      configuration: {{"@type": type.googleapis.com/google.protobuf.StringValue, value: ""}}
      allow_on_headers_stop_iteration: {flag}
      failure_policy: FAIL_RELOAD
      reload_config: {{backoff: {{base_interval: 0.1s}}}}
      vm_config:
        vm_id: {name}
        configuration: {{"@type": type.googleapis.com/google.protobuf.StringValue, value: {name}}}
        runtime: envoy.wasm.runtime.v8
        code: {{local: {{filename: "{file}"}}}}
"#,
            file = file.display()
        )
    }
}
