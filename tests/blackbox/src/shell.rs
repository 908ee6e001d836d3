//! Where things are.

use std::path::{Path, PathBuf};

/// The root of the repository.
#[must_use]
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// The folder of the built filters: `$DRAGOMAN_MODULES`, or `envoy/modules`.
///
/// # Panics
/// When there are none.
#[must_use]
pub fn modules() -> PathBuf {
    let built = repository().join("envoy/modules");
    let modules = std::env::var_os("DRAGOMAN_MODULES").map_or(built, PathBuf::from);
    assert!(
        modules.join("alias.wasm").is_file(),
        "there are no modules: run scripts/build-filters first"
    );
    modules
}
