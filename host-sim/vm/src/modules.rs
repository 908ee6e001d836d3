//! Compiled modules, each once per process, and the cache of compiled code.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use host_sim_host::abi::{LoadError, Vm, VmFactory};
use host_sim_host::config::VmConfig;
use sha2::{Digest, Sha256};
use wasmtime::{Config, Engine, Linker, Module};

use crate::data::Data;
use crate::guest::WasmVm;
use crate::link;

/// All modules of a process.
pub struct Modules {
    engine: Engine,
    linker: Linker<Data>,
    cache_dir: Option<PathBuf>,
    bounds: Bounds,
    compiled: Mutex<BTreeMap<String, Module>>,
}

/// What a guest may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Linear memory of one VM in bytes; Envoy's bound is 1 GiB.
    pub memory_bytes: usize,
    /// Instructions of one call. Envoy has no such bound: there a loop without an end holds its
    /// thread for ever, which no test could survive.
    pub fuel_per_call: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        // Five thousand million instructions are seconds; a real callback takes microseconds.
        Bounds {
            memory_bytes: 1 << 30,
            fuel_per_call: 5_000_000_000,
        }
    }
}

/// The engine cannot be set up, or the cache directory cannot be made.
#[derive(Debug)]
pub struct SetupError(pub String);

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SetupError {}

impl Modules {
    /// Compiled code is kept under `cache_dir`, if there is one. Whoever can write there decides what
    /// runs: it must be as trusted as the modules themselves.
    ///
    /// # Errors
    /// When the machine is not supported or the directory cannot be made.
    pub fn new(cache_dir: Option<PathBuf>) -> Result<Modules, SetupError> {
        Modules::with_bounds(cache_dir, Bounds::default())
    }

    /// The same with other bounds.
    ///
    /// # Errors
    /// As [`Modules::new`].
    pub fn with_bounds(cache_dir: Option<PathBuf>, bounds: Bounds) -> Result<Modules, SetupError> {
        let mut config = Config::new();
        config.consume_fuel(true);
        let engine =
            Engine::new(&config).map_err(|error| SetupError(format!("wasmtime: {error:#}")))?;
        let linker =
            link::linker(&engine).map_err(|error| SetupError(format!("wasmtime: {error:#}")))?;
        if let Some(dir) = &cache_dir {
            std::fs::create_dir_all(dir)
                .map_err(|error| SetupError(format!("{}: {error}", dir.display())))?;
        }
        Ok(Modules {
            engine,
            linker,
            cache_dir,
            bounds,
            compiled: Mutex::default(),
        })
    }

    /// The module at a path, compiled at its first use.
    fn module(&self, code_path: &str) -> Result<Module, String> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = compiled.get(code_path) {
            return Ok(module.clone());
        }
        let bytes = std::fs::read(code_path).map_err(|error| error.to_string())?;
        let module = self.compile(&bytes)?;
        compiled.insert(code_path.to_owned(), module.clone());
        Ok(module)
    }

    fn compile(&self, bytes: &[u8]) -> Result<Module, String> {
        let cached = self
            .cache_dir
            .as_ref()
            .map(|dir| dir.join(self.cache_name(bytes)));
        if let Some(path) = cached.as_deref().filter(|path| path.exists()) {
            // SAFETY: the file is what `keep` below wrote: its name holds the digest of the module and
            // of the engine's version and settings, and it appears under that name only when complete.
            // The directory's writers are trusted, as `Modules::new` says.
            if let Ok(module) = unsafe { Module::deserialize_file(&self.engine, path) } {
                return Ok(module);
            }
        }
        let module = Module::new(&self.engine, bytes).map_err(|error| format!("{error:#}"))?;
        if let Some(path) = cached {
            keep(&module, &path);
        }
        Ok(module)
    }

    fn cache_name(&self, bytes: &[u8]) -> String {
        let mut name = String::new();
        for byte in Sha256::digest(bytes) {
            let _ = write!(name, "{byte:02x}");
        }
        let mut engine = DefaultHasher::new();
        self.engine
            .precompile_compatibility_hash()
            .hash(&mut engine);
        let _ = write!(name, "-{:016x}.cwasm", engine.finish());
        name
    }
}

/// Writes compiled code where the next process finds it; a cache that cannot be written is only slow.
fn keep(module: &Module, path: &Path) {
    let part = path.with_extension(format!("{}.part", std::process::id()));
    let written = module
        .serialize()
        .is_ok_and(|code| std::fs::write(&part, code).is_ok());
    if !written || std::fs::rename(&part, path).is_err() {
        let _ = std::fs::remove_file(&part);
    }
}

impl VmFactory for Modules {
    fn instantiate(&self, vm: &VmConfig) -> Result<Box<dyn Vm>, LoadError> {
        let error = |reason| LoadError {
            code_path: vm.code_path.clone(),
            reason,
        };
        let module = self.module(&vm.code_path).map_err(error)?;
        let guest = WasmVm::new(&self.engine, &self.linker, &module, self.bounds).map_err(error)?;
        Ok(Box::new(guest))
    }
}
