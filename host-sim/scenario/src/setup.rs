//! How a world begins.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use host_sim_envoy::{Problem, RenderError, RenderOptions};
use host_sim_host::abi::watch::{Watcher, Watchers, watched};
use host_sim_host::{StartError, VmFactory};
use host_sim_vm::Modules;

use crate::onlook::Onlooker;
use crate::turns::Turns;

/// What a world is made of besides its configuration.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Worker threads, at least 1. The main thread, where all guests are once more, is not one of them.
    pub threads: usize,
    /// Decides what happens first at one moment, and is the source of the process's own random numbers.
    pub seed: u64,
    /// Whether guests of several threads are inside their calls at the same moment, each going on where the seed says so;
    /// otherwise one event ends before the next begins.
    pub overlaps: bool,
    /// Environment of the process; the credentials of workers are read from it.
    pub environment: BTreeMap<String, String>,
    /// Folder of the `.wasm` files.
    pub modules: PathBuf,
    /// Are shown every callback and every host call of all threads.
    pub watchers: Vec<Arc<dyn Watcher>>,
    /// Folder that keeps compiled modules. The first world of a process decides.
    pub cache: Option<PathBuf>,
    /// Are shown what goes into the threads and what comes out.
    pub onlookers: Vec<Arc<dyn Onlooker>>,
}

impl Default for Setup {
    /// One thread, seed 1, calls that overlap, an empty environment, the modules of this project; nobody watches.
    fn default() -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let modules = here.join("../../envoy/modules");
        Setup {
            threads: 1,
            seed: 1,
            overlaps: true,
            environment: BTreeMap::new(),
            modules,
            watchers: Vec::new(),
            cache: Some(here.join("../../target/host-sim-cache")),
            onlookers: Vec::new(),
        }
    }
}

/// Why there is no world.
#[derive(Clone, Debug)]
pub enum SetupError {
    /// The `gateway.json` cannot be rendered.
    Render(RenderError),
    /// The `envoy.yaml` is refused.
    Read(Vec<Problem>),
    /// The wasm engine does not start.
    Engine(String),
    /// A module that the configuration names is not there.
    Module(PathBuf),
    /// A worker thread does not start.
    Start(StartError),
    /// A world without threads.
    NoThread,
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SetupError::Render(error) => error.fmt(f),
            SetupError::Read(problems) => {
                let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
                f.write_str(&lines.join("\n"))
            }
            SetupError::Engine(reason) => f.write_str(reason),
            SetupError::Module(path) => {
                write!(
                    f,
                    "the module {} is missing: run scripts/build-filters",
                    path.display()
                )
            }
            SetupError::Start(error) => error.fmt(f),
            SetupError::NoThread => f.write_str("a world needs a thread"),
        }
    }
}

impl std::error::Error for SetupError {}

/// `envoy.yaml` of a `gateway.json`, with the modules of the setup.
pub(crate) fn yaml_of(gateway_json: &str, setup: &Setup) -> Result<String, SetupError> {
    let modules = setup.modules.to_string_lossy().into_owned();
    let options = RenderOptions {
        modules,
        access_log: "access.log".to_owned(),
        ..RenderOptions::default()
    };
    host_sim_envoy::render(gateway_json, &options).map_err(SetupError::Render)
}

/// Modules are compiled once a process, not once a world. Whose turn it is comes before all that watch, so that they see host
/// calls in the order in which they are carried out.
pub(crate) fn modules(setup: &Setup, turns: &Arc<Turns>) -> Result<Arc<dyn VmFactory>, SetupError> {
    static MODULES: OnceLock<Result<Arc<Modules>, String>> = OnceLock::new();
    let made = MODULES.get_or_init(|| {
        Modules::new(setup.cache.clone())
            .map(Arc::new)
            .map_err(|error| error.to_string())
    });
    let modules = made.clone().map_err(SetupError::Engine)?;
    let mut watchers = setup.watchers.clone();
    if setup.overlaps {
        watchers.insert(0, Arc::clone(turns) as Arc<dyn Watcher>);
    }
    if watchers.is_empty() {
        return Ok(modules);
    }
    Ok(watched(modules, Arc::new(Watchers(watchers))))
}
