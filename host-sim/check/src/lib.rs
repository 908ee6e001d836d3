#![doc = include_str!("../README.md")]

mod bootstrap;
mod document;
mod facts;
mod finding;
mod locate;
mod modules;
mod report;
mod rules;

use std::collections::BTreeMap;
use std::sync::Arc;

use host_sim_envoy::{RenderError, RenderOptions, render};
use host_sim_host::VmFactory;

pub use finding::{Finding, Severity};
pub use report::{Report, VERSION as REPORT_VERSION};
pub use rules::versions::{EnvoyVersion, LATEST};

use finding::Notes;

/// A file to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// As the user named it.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// What there is besides the files.
#[derive(Clone, Default)]
pub struct Options {
    /// Runs the modules; without it their configurations are only read.
    pub vms: Option<Arc<dyn VmFactory>>,
    /// Folder in which the modules are looked for instead of the one the configuration names.
    pub modules: Option<String>,
    /// The environment in which the variables of credentials must be set; `None`: they are taken to be
    /// set where Envoy runs.
    pub environment: Option<BTreeMap<String, String>>,
    /// The oldest Envoy that is to run it.
    pub envoy: EnvoyVersion,
}

/// Checks all files, a `gateway.json` also as what it renders to.
#[must_use]
pub fn check(inputs: &[Input], options: &Options) -> Report {
    let mut findings = Vec::new();
    let documents: Vec<&Input> = inputs.iter().filter(|input| is_gateway(input)).collect();
    for input in inputs {
        let mut notes = Notes::new(&input.name);
        if is_gateway(input) {
            gateway_json(input, options, &mut notes);
        } else {
            // One document can be compared with; of several nobody knows which is meant.
            let written = match documents.as_slice() {
                [one] => Some(*one),
                _ => None,
            };
            bootstrap::check(&input.text, written, options, &mut notes);
        }
        findings.extend(notes.into_findings());
    }
    Report::new(
        inputs.iter().map(|input| input.name.clone()).collect(),
        findings,
    )
}

/// The rules alone for one `envoy.yaml`: no module runs. For who starts with the file anyway.
#[must_use]
pub fn configuration(name: &str, yaml: &str) -> Vec<Finding> {
    let mut notes = Notes::new(name);
    bootstrap::check(yaml, None, &Options::default(), &mut notes);
    notes.into_findings()
}

/// Whether a file is a `gateway.json` and not a bootstrap of Envoy written as JSON.
fn is_gateway(input: &Input) -> bool {
    match serde_json::from_str::<serde_json::Value>(&input.text) {
        Ok(json) => ["static_resources", "dynamic_resources", "admin", "node"]
            .iter()
            .all(|field| json.get(field).is_none()),
        Err(_) => input.name.ends_with(".json"),
    }
}

fn gateway_json(input: &Input, options: &Options, notes: &mut Notes) {
    for fault in document::faults(&input.text) {
        let line = locate::line(&input.text, &fault.path, &fault.reason);
        notes.document_fault(line, &fault);
    }
    if notes.has_errors() {
        return;
    }
    let defaults = RenderOptions::default();
    let rendering = RenderOptions {
        modules: options.modules.clone().unwrap_or(defaults.modules.clone()),
        ..defaults
    };
    match render(&input.text, &rendering) {
        Err(RenderError::NoWorker) => {
            let what = "[]: must not be empty: Envoy takes no route without a cluster";
            let line = locate::line(&input.text, "workers", "");
            let fix = "name at least one worker";
            notes.add(
                Severity::Error,
                "gateway-document",
                line,
                "workers".to_owned(),
                what,
                fix,
            );
        }
        // The document was right a moment ago.
        Err(RenderError::Config(fault)) => notes.document_fault(1, &fault),
        Ok(yaml) => {
            let mut rendered = Notes::new(&format!("{} (rendered)", input.name));
            bootstrap::check(&yaml, None, options, &mut rendered);
            notes.take_over(rendered);
        }
    }
}
