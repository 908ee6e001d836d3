//! Compiled modules, each once per process, and the cache of compiled code.

use std::fmt;
use std::path::PathBuf;

use host_sim_host::abi::{LoadError, Vm, VmFactory};
use host_sim_host::config::VmConfig;

/// All modules of a process.
pub struct Modules {
    #[expect(dead_code, reason = "filled with the engine")]
    cache_dir: Option<PathBuf>,
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
    /// Compiled code is kept under `cache_dir`, if there is one.
    ///
    /// # Errors
    /// When the machine is not supported or the directory cannot be made.
    pub fn new(cache_dir: Option<PathBuf>) -> Result<Modules, SetupError> {
        Ok(Modules { cache_dir })
    }
}

impl VmFactory for Modules {
    fn instantiate(&self, vm: &VmConfig) -> Result<Box<dyn Vm>, LoadError> {
        Err(LoadError {
            code_path: vm.code_path.clone(),
            reason: "not loaded".to_owned(),
        })
    }
}
