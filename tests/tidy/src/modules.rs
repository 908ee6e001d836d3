//! The built modules: what they export and import, and what their bytes give away.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use wasmparser::{Parser, Payload};

use crate::{Finding, Tree};

/// Exports that every module needs, whatever it does: memory, start, and the life of its contexts.
/// `scripts/strip-exports` keeps the same.
const ALWAYS: &[&str] = &[
    "_initialize",
    "malloc",
    "memory",
    "proxy_abi_version_0_2_1",
    "proxy_on_configure",
    "proxy_on_context_create",
    "proxy_on_delete",
    "proxy_on_memory_allocate",
    "proxy_on_vm_start",
];

/// The functions of ABI 0.2.1 that Envoy 1.40 offers in `env`, each behind `proxy_`.
const PROXY: &str = "add_header_map_value call_foreign_function close_stream continue_stream \
    define_metric dequeue_shared_queue done enqueue_shared_queue get_buffer_bytes \
    get_buffer_status get_current_time_nanoseconds get_header_map_pairs get_header_map_size \
    get_header_map_value get_log_level get_metric get_property get_shared_data get_status \
    grpc_call grpc_cancel grpc_close grpc_send grpc_stream http_call increment_metric log \
    record_metric register_shared_queue remove_header_map_value replace_header_map_value \
    resolve_shared_queue send_local_response set_buffer_bytes set_effective_context \
    set_header_map_pairs set_property set_shared_data set_tick_period_milliseconds";

/// The WASI functions that Envoy 1.40 offers; a module that imports any other does not load.
const WASI: &str = "args_get args_sizes_get clock_res_get clock_time_get environ_get \
    environ_sizes_get fd_advise fd_allocate fd_close fd_datasync fd_fdstat_get \
    fd_fdstat_set_flags fd_fdstat_set_rights fd_filestat_get fd_filestat_set_size \
    fd_filestat_set_times fd_pread fd_prestat_dir_name fd_prestat_get fd_pwrite fd_read \
    fd_readdir fd_renumber fd_seek fd_sync fd_tell fd_write path_create_directory \
    path_filestat_get path_filestat_set_times path_link path_open path_readlink \
    path_remove_directory path_rename path_symlink path_unlink_file poll_oneoff proc_exit \
    random_get sched_yield sock_accept sock_recv sock_send sock_shutdown";

/// Texts that no module may hold: paths of the machine that built it, and the feature that lets
/// tests make a module panic.
const GIVEAWAYS: &[&str] = &[
    "/root/.cargo",
    "/.cargo/registry",
    concat!("/wo", "rk/"),
    "test-hooks",
];

/// Checks every module of `filters/modules` as built below `root`.
pub fn check(root: &Path, tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (source, text) in tree.rust() {
        let inner = source.strip_prefix("filters/modules/");
        let Some(name) = inner.and_then(|inner| inner.strip_suffix("/src/lib.rs")) else {
            continue;
        };
        let Some(callbacks) = listed_callbacks(text) else {
            findings.push(Finding::at(source, "lists no callbacks"));
            continue;
        };
        let path = format!("envoy/modules/{name}.wasm");
        match fs::read(root.join(&path)) {
            Ok(bytes) => {
                findings.extend(check_module(&path, &callbacks, &bytes));
                let clone = root.join("filters");
                findings.extend(giveaways(&path, &bytes, &[&clone.to_string_lossy()]));
            }
            Err(error) => {
                findings.push(Finding::at(
                    path,
                    format!("{error}; run scripts/build-filters"),
                ));
            }
        }
    }
    findings
}

/// The callbacks in `callbacks: b"..."` of a module's source, as their exports are named.
fn listed_callbacks(source: &str) -> Option<BTreeSet<String>> {
    let (_, rest) = source.split_once("callbacks: b\"")?;
    let (names, _) = rest.split_once('"')?;
    Some(
        names
            .split_whitespace()
            .map(|name| format!("proxy_on_{name}"))
            .collect(),
    )
}

/// Checks the exports and imports of one module. `callbacks` are the exports it lists.
pub fn check_module(path: &str, callbacks: &BTreeSet<String>, bytes: &[u8]) -> Vec<Finding> {
    let (imports, exports) = match interface(bytes) {
        Ok(interface) => interface,
        Err(error) => return vec![Finding::at(path, format!("is not a wasm module: {error}"))],
    };
    let unlisted = exports
        .iter()
        .filter(|name| !ALWAYS.contains(&name.as_str()) && !callbacks.contains(*name));
    let missing = callbacks.difference(&exports);
    let strange = imports
        .iter()
        .filter(|(module, name)| !is_offered(module, name));
    let mut reasons: Vec<String> = Vec::new();
    reasons.extend(unlisted.map(|name| format!("exports {name}, which its source does not list")));
    reasons.extend(missing.map(|name| format!("does not export {name}, which its source lists")));
    reasons.extend(strange.map(|(module, name)| {
        format!("imports {module}.{name}, which Envoy does not offer: it would not load")
    }));
    reasons
        .into_iter()
        .map(|reason| Finding::at(path, reason))
        .collect()
}

type Interface = (Vec<(String, String)>, BTreeSet<String>);

/// The imports (module and name) and the exports.
fn interface(bytes: &[u8]) -> wasmparser::Result<Interface> {
    let mut imports = Vec::new();
    let mut exports = BTreeSet::new();
    for payload in Parser::new(0).parse_all(bytes) {
        match payload? {
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    let import = import?;
                    imports.push((import.module.to_owned(), import.name.to_owned()));
                }
            }
            Payload::ExportSection(section) => {
                for export in section {
                    exports.insert(export?.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok((imports, exports))
}

fn is_offered(module: &str, name: &str) -> bool {
    match module {
        "env" => name
            .strip_prefix("proxy_")
            .is_some_and(|name| PROXY.split_whitespace().any(|known| known == name)),
        "wasi_snapshot_preview1" | "wasi_unstable" => {
            WASI.split_whitespace().any(|known| known == name)
        }
        _ => false,
    }
}

/// Texts in `bytes` that tell of the machine that built them; `more` are folders of this machine.
pub fn giveaways(path: &str, bytes: &[u8], more: &[&str]) -> Vec<Finding> {
    let holds = |text: &&&str| {
        bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    };
    let found = GIVEAWAYS.iter().chain(more).filter(holds);
    found
        .map(|text| Finding::at(path, format!("holds the text {text}")))
        .collect()
}
