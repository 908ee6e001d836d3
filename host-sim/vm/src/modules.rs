//! Compiled modules, each once per process, and the cache of compiled code.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use host_sim_host::abi::{CodeId, LoadError, Vm, VmFactory};
use host_sim_host::config::VmConfig;
use sha2::{Digest, Sha256};
use wasmtime::{Config, Engine, Linker, Module};

use crate::abi::Version;
use crate::data::Data;
use crate::guest::WasmVm;
use crate::link::{self, Rights};

/// All modules of a process.
pub struct Modules {
    engine: Engine,
    linker: Linker<Data>,
    cache_dir: Option<PathBuf>,
    bounds: Bounds,
    known: Mutex<BTreeMap<String, Known>>,
    compiled: Mutex<Compiled>,
}

/// What a file held when it was last looked at. It is read again only when its stamp changed.
struct Known {
    stamp: Stamp,
    code: CodeId,
}

/// Inode, size, seconds and nanoseconds of the last change.
type Stamp = (u64, u64, i64, i64);

/// Compiled code, the latest last.
type Compiled = Vec<(CodeId, Module)>;

/// Most modules that stay compiled: a gateway has a dozen, and a day of changes to them must not
/// fill the memory. Guests that run keep their code; only a reload after a trap could miss it.
const COMPILED_LIMIT: usize = 64;

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
        // V8 has it off, so a module with two memories does not load in Envoy.
        config.wasm_multi_memory(false);
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
            known: Mutex::default(),
            compiled: Mutex::default(),
        })
    }

    /// The code at a path, compiled when it is new.
    fn look(&self, code_path: &str) -> Result<CodeId, String> {
        let text = |error: std::io::Error| error.to_string();
        let file = std::fs::metadata(code_path).map_err(text)?;
        let stamp = (file.ino(), file.size(), file.mtime(), file.mtime_nsec());
        // Held until it is compiled: threads that start at once wait for one compilation.
        let mut known = lock(&self.known);
        if let Some(known) = known.get(code_path)
            && known.stamp == stamp
            && self.module(known.code).is_ok()
        {
            return Ok(known.code);
        }
        let content = std::fs::read(code_path).map_err(text)?;
        let code = CodeId(Sha256::digest(&content).into());
        if self.module(code).is_err() {
            let module = self.compile(&content, code)?;
            let mut compiled = lock(&self.compiled);
            if compiled.len() >= COMPILED_LIMIT {
                compiled.remove(0);
            }
            compiled.push((code, module));
        }
        known.insert(code_path.to_owned(), Known { stamp, code });
        Ok(code)
    }

    fn module(&self, code: CodeId) -> Result<Module, String> {
        let compiled = lock(&self.compiled);
        let module = compiled.iter().find(|(known, _)| *known == code);
        module
            .map(|(_, module)| module.clone())
            .ok_or_else(|| "its code was replaced and is not kept any more".to_owned())
    }

    fn compile(&self, bytes: &[u8], code: CodeId) -> Result<Module, String> {
        let cached = self
            .cache_dir
            .as_ref()
            .map(|dir| dir.join(self.cache_name(code)));
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

    fn cache_name(&self, code: CodeId) -> String {
        let mut name = String::new();
        for byte in code.0 {
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.instantiate_code(vm, self.code(vm)?)
    }

    fn code(&self, vm: &VmConfig) -> Result<CodeId, LoadError> {
        self.look(&vm.code_path).map_err(|reason| LoadError {
            code_path: vm.code_path.clone(),
            reason,
        })
    }

    fn instantiate_code(&self, vm: &VmConfig, code: CodeId) -> Result<Box<dyn Vm>, LoadError> {
        let error = |reason| LoadError {
            code_path: vm.code_path.clone(),
            reason,
        };
        let module = self.module(code).map_err(error)?;
        let rights = Rights {
            version: Version::of(&module).map_err(error)?,
            capabilities: &vm.allowed_capabilities,
        };
        let guest = WasmVm::new(&self.engine, &self.linker, &module, self.bounds, rights);
        let guest = guest.map_err(error)?;
        Ok(Box::new(guest))
    }

    fn capabilities(&self, vm: &VmConfig) -> Result<Vec<String>, LoadError> {
        let error = |reason| LoadError {
            code_path: vm.code_path.clone(),
            reason,
        };
        let module = self.module(self.code(vm)?).map_err(error)?;
        let imports = module.imports().map(|import| import.name().to_owned());
        let callbacks = module
            .exports()
            .map(|export| export.name().to_owned())
            .filter(|name| name.starts_with("proxy_on_"));
        Ok(imports.chain(callbacks).collect())
    }
}
