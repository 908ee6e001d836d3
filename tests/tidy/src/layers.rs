//! Who may depend on whom.
//!
//! No phase of a request: `filters/core`. A phase but no host call: a filter. A host call: the sdk.
//! Wasm memory: `host-sim/vm`. Envoy's behaviour: `host-sim/host`. A socket: `host-sim/server`.

use std::collections::BTreeMap;

use crate::manifest::{self, Crate};
use crate::{Finding, Tree};

/// What a crate is, by its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    /// Pure code.
    Core,
    /// What a filter may ask of its host.
    Sdk,
    /// One filter.
    Filter,
    /// The shell around a filter that becomes a `.wasm` file.
    Module,
    /// Envoy's behaviour.
    Host,
    /// Wasm memory and engine.
    Vm,
    /// Envoy's configuration.
    Envoy,
    /// Scripted runs.
    Scenario,
    /// What must agree in a configuration.
    Check,
    /// Random runs and what must always hold.
    Swarm,
    /// Sockets.
    Server,
    /// The program.
    Cli,
    /// The worker of demos and tests.
    MockWorker,
    /// A step of the build.
    Script,
    /// A crate of tests.
    Test,
}

/// The crates of `filters/core` that host-sim shares: the documents and names both sides speak of.
const SHARED_CORE: &[&str] = &["filters/core/config", "filters/core/contract"];

/// A package from outside that only some layers may name.
struct Reserved {
    matches: fn(&str) -> bool,
    allowed: fn(Layer) -> bool,
    reason: &'static str,
}

const RESERVED: &[Reserved] = &[
    Reserved {
        matches: |name| name.starts_with("proxy-wasm"),
        allowed: |layer| layer == Layer::Sdk,
        reason: "only filters/sdk names proxy-wasm",
    },
    Reserved {
        matches: |name| name.starts_with("wasmtime") || name.starts_with("cranelift"),
        allowed: |layer| layer == Layer::Vm,
        reason: "only host-sim/vm names the wasm engine",
    },
    Reserved {
        matches: is_network,
        allowed: |layer| matches!(layer, Layer::Server | Layer::MockWorker | Layer::Test),
        reason: "sockets and HTTP connections belong to host-sim/server and tests",
    },
    Reserved {
        matches: |name| name.contains("yaml"),
        allowed: |layer| layer != Layer::Host,
        reason: "host-sim/host gets a checked configuration; host-sim/envoy reads YAML",
    },
];

fn is_network(name: &str) -> bool {
    let family = ["tokio", "hyper", "async-"]
        .iter()
        .any(|start| name.starts_with(start));
    family
        || [
            "mio", "httparse", "h2", "socket2", "smol", "polling", "reqwest",
        ]
        .contains(&name)
}

/// Every dependency that crosses the layers.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let (crates, mut findings) = manifest::crates(tree);
    let folders: BTreeMap<&str, &str> = crates
        .iter()
        .map(|one| (one.name.as_str(), one.folder.as_str()))
        .collect();
    for one in &crates {
        findings.extend(check_crate(one, &folders));
    }
    findings
}

fn check_crate(one: &Crate, folders: &BTreeMap<&str, &str>) -> Vec<Finding> {
    let manifest = format!("{}/Cargo.toml", one.folder);
    let Some(layer) = layer(&one.folder) else {
        return vec![Finding::at(
            manifest,
            "this folder has no layer; name it in tests/tidy",
        )];
    };
    let mut findings = Vec::new();
    for name in &one.dependencies {
        if let Some(reserved) = RESERVED.iter().find(|known| (known.matches)(name)) {
            if !(reserved.allowed)(layer) {
                findings.push(Finding::at(
                    &manifest,
                    format!("{name}: {}", reserved.reason),
                ));
            }
        } else if let Some(target) = folders.get(name.as_str())
            && !may_use(layer, target)
        {
            let reason = format!("{name} ({target}) is out of reach for {layer:?}");
            findings.push(Finding::at(&manifest, reason));
        }
    }
    findings
}

fn layer(folder: &str) -> Option<Layer> {
    let parts: Vec<&str> = folder.split('/').collect();
    Some(match parts.as_slice() {
        ["filters", "core", _] => Layer::Core,
        ["filters", "sdk"] => Layer::Sdk,
        ["filters", "modules", _] => Layer::Module,
        ["filters", _] => Layer::Filter,
        ["host-sim", "host"] => Layer::Host,
        ["host-sim", "vm"] => Layer::Vm,
        ["host-sim", "envoy"] => Layer::Envoy,
        ["host-sim", "scenario"] => Layer::Scenario,
        ["host-sim", "check"] => Layer::Check,
        ["host-sim", "swarm"] => Layer::Swarm,
        ["host-sim", "server"] => Layer::Server,
        ["host-sim", "cli"] => Layer::Cli,
        ["scripts", _] => Layer::Script,
        ["tests", "mock-worker"] => Layer::MockWorker,
        ["tests", ..] => Layer::Test,
        _ => return None,
    })
}

/// Whether a crate of layer `from` may use the project's own crate in the folder `target`.
fn may_use(from: Layer, target: &str) -> bool {
    let shared = SHARED_CORE.contains(&target);
    let Some(to) = layer(target) else {
        return false;
    };
    match from {
        Layer::Core | Layer::Sdk => to == Layer::Core,
        Layer::Filter => matches!(to, Layer::Core | Layer::Sdk),
        Layer::Module => matches!(to, Layer::Sdk | Layer::Filter),
        Layer::Host | Layer::Script => false,
        Layer::Vm => to == Layer::Host,
        Layer::Envoy => to == Layer::Host || shared,
        Layer::Scenario => {
            matches!(
                to,
                Layer::Host | Layer::Vm | Layer::Envoy | Layer::MockWorker
            ) || shared
        }
        Layer::Check => matches!(to, Layer::Host | Layer::Vm | Layer::Envoy) || shared,
        Layer::Swarm => {
            let below = matches!(to, Layer::Host | Layer::Vm | Layer::Envoy | Layer::Scenario);
            below || to == Layer::MockWorker || shared
        }
        Layer::Server => matches!(to, Layer::Host | Layer::Vm | Layer::Envoy | Layer::Check),
        Layer::Cli => {
            let filters = matches!(to, Layer::Core | Layer::Sdk | Layer::Filter | Layer::Module);
            shared || !(filters || to == Layer::Test)
        }
        Layer::MockWorker | Layer::Test => true,
    }
}
