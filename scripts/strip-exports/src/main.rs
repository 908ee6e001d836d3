//! Removes the callbacks a module does not use from its exports, and what only they reached.
//!
//! The SDK exports every callback of the ABI, and Envoy calls what is exported: about 0.1 µs for
//! each on each request. The module lists what it implements in the custom section
//! `dragoman.callbacks` (see `dragoman_sdk::module!`), which is dropped from the result.
//!
//! `strip-exports IN.wasm OUT.wasm`

use std::collections::BTreeSet;
use std::process::ExitCode;

use walrus::{ExportItem, Module, RawCustomSection};

const SECTION: &str = "dragoman.callbacks";

/// Exports that every module needs, whatever it does: memory, start, and the life of its contexts.
const ALWAYS: &[&str] = &[
    "memory",
    "_initialize",
    "malloc",
    "proxy_on_memory_allocate",
    "proxy_abi_version_0_2_1",
    "proxy_on_vm_start",
    "proxy_on_configure",
    "proxy_on_context_create",
    "proxy_on_delete",
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output] = arguments.as_slice() else {
        eprintln!("usage: strip-exports IN.wasm OUT.wasm");
        return ExitCode::from(2);
    };
    match strip(input, output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("strip-exports: {input}: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn strip(input: &str, output: &str) -> Result<(), String> {
    let mut module = Module::from_file(input).map_err(|error| format!("{error:#}"))?;
    let keep = wanted(&mut module)?;
    check(&module, &keep)?;
    let drop: Vec<_> = module
        .exports
        .iter()
        .filter(|export| !keep.contains(&export.name))
        .map(|export| export.id())
        .collect();
    for id in drop {
        module.exports.delete(id);
    }
    walrus::passes::gc::run(&mut module);
    module
        .emit_wasm_file(output)
        .map_err(|error| format!("{error:#}"))
}

/// The exports to keep: the fixed ones and those the module names.
fn wanted(module: &mut Module) -> Result<BTreeSet<String>, String> {
    let section: RawCustomSection = *module
        .customs
        .remove_raw(SECTION)
        .map(Box::new)
        .ok_or_else(|| format!("no custom section {SECTION}; is this one of our modules?"))?;
    let names = String::from_utf8(section.data).map_err(|_| format!("{SECTION} is not text"))?;
    let callbacks = names
        .split_whitespace()
        .map(|name| format!("proxy_on_{name}"));
    Ok(ALWAYS
        .iter()
        .map(|name| (*name).to_owned())
        .chain(callbacks)
        .collect())
}

/// A callback that is listed but not exported is a spelling mistake.
fn check(module: &Module, keep: &BTreeSet<String>) -> Result<(), String> {
    let functions: BTreeSet<&str> = module
        .exports
        .iter()
        .filter(|export| matches!(export.item, ExportItem::Function(_)))
        .map(|export| export.name.as_str())
        .collect();
    let missing = keep
        .iter()
        .find(|name| !ALWAYS.contains(&name.as_str()) && !functions.contains(name.as_str()));
    match missing {
        Some(name) => Err(format!("{name} is listed in {SECTION} but not exported")),
        None => Ok(()),
    }
}
