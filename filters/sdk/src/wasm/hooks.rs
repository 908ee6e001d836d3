//! A trap on demand, for tests of what a trap leaves behind. Only with the feature `test-hooks`.

use super::calls::WasmHost;
use crate::host::{Bus, Cas, Headers, Map, Shared};

/// Header that names the module to trap.
const HEADER: &str = "x-test-trap";
/// The module without request callbacks; it traps at a tick.
const TICKING: &[u8] = b"poll";
/// Key of shared data that tells it.
const KEY: &str = "dragoman/test/trap";

/// Traps if the request names this module; tells the ticking one if the request names it.
pub(super) fn on_request() {
    let named = WasmHost
        .header(Map::Request, HEADER)
        .ok()
        .flatten()
        .unwrap_or_default();
    if named == TICKING {
        let _ = WasmHost.swap_shared(KEY, &named, Cas::ANY);
    } else if !named.is_empty() && named == this_module() {
        core::arch::wasm32::unreachable();
    }
}

/// Traps if a request named this module since the last trap.
pub(super) fn on_tick() {
    let Ok(Some((named, cas))) = WasmHost.shared(KEY) else {
        return;
    };
    let is_meant = !named.is_empty() && named == this_module();
    if is_meant && WasmHost.swap_shared(KEY, b"", cas) == Ok(true) {
        core::arch::wasm32::unreachable();
    }
}

fn this_module() -> Vec<u8> {
    WasmHost
        .property(&["plugin_root_id"])
        .ok()
        .flatten()
        .unwrap_or_default()
}
