//! Where things are.

use std::path::{Path, PathBuf};

/// The root of the repository.
#[must_use]
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// The folder of the built filters.
///
/// # Panics
/// When there are none.
#[must_use]
pub fn modules() -> PathBuf {
    let modules = repository().join("envoy/modules");
    assert!(
        modules.join("alias.wasm").is_file(),
        "there are no modules: run scripts/build-filters first"
    );
    modules
}
