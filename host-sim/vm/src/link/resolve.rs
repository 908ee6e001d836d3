//! What a module imports, found in Envoy's table; what is not there is named in Envoy's words.

use std::collections::BTreeSet;

use host_sim_host::abi::Status;
use wasmtime::{
    Extern, ExternType, Func, FuncType, ImportType, Linker, Memory, Module, Ref, Store, Table, Val,
    ValType,
};

use super::phases::phase_of;
use crate::abi::Version;
use crate::data::Data;

/// WASI's errno for what a guest is not capable of.
const ENOTCAPABLE: u32 = 76;

/// Imports that no capability restriction holds back.
const ALWAYS_ALLOWED: [&str; 3] = [
    "pthread_equal",
    "emscripten_notify_memory_growth",
    "envoy_resolve_dns",
];

/// What a module may use of Envoy's table.
#[derive(Clone, Copy)]
pub(crate) struct Rights<'a> {
    pub(crate) version: Version,
    /// Names of imports and exports; none at all is no restriction.
    pub(crate) capabilities: &'a BTreeSet<String>,
}

impl Rights<'_> {
    /// Whether an import or export may be used.
    pub(crate) fn allow(&self, name: &str) -> bool {
        self.capabilities.is_empty() || self.capabilities.contains(name)
    }
}

/// All imports of a module in their order.
///
/// # Errors
/// Envoy's sentence about the first import that it does not have, or has with another signature.
pub(crate) fn resolve(
    linker: &Linker<Data>,
    store: &mut Store<Data>,
    module: &Module,
    rights: Rights<'_>,
) -> Result<Vec<Extern>, String> {
    module
        .imports()
        .map(|import| find(linker, store, &import, rights))
        .collect()
}

fn find(
    linker: &Linker<Data>,
    store: &mut Store<Data>,
    import: &ImportType<'_>,
    rights: Rights<'_>,
) -> Result<Extern, String> {
    let (module, name) = (import.module(), import.name());
    let missing = || {
        Err(format!(
            "Failed to load Wasm module due to a missing import: {module}.{name}"
        ))
    };
    let wanted = match import.ty() {
        ExternType::Func(wanted) => wanted,
        // Envoy makes any memory and any table that is asked for, whatever its name.
        ExternType::Memory(kind) => {
            let memory = Memory::new(&mut *store, kind).map_err(|error| format!("{error:#}"))?;
            store.data_mut().memory = Some(memory);
            return Ok(memory.into());
        }
        ExternType::Table(kind) => {
            let null = Ref::null(kind.element().heap_type());
            let table =
                Table::new(&mut *store, kind, null).map_err(|error| format!("{error:#}"))?;
            return Ok(table.into());
        }
        _ => return missing(),
    };
    let known = module != "env" || rights.version.has(name);
    let Ok(Extern::Func(found)) = linker.get(&mut *store, module, name) else {
        return missing();
    };
    if !known {
        return missing();
    }
    let offered = found.ty(&*store);
    if !offered.matches(&wanted) || !wanted.matches(&offered) {
        return Err(format!(
            "Failed to load Wasm module due to an import type mismatch: {module}.{name}, want: {}, but host exports: {}",
            signature(&wanted),
            signature(&offered)
        ));
    }
    if rights.allow(name) || (module == "env" && ALWAYS_ALLOWED.contains(&name)) {
        return Ok(found.into());
    }
    Ok(denied(store, offered, module, name).into())
}

/// Stands for an import that the configuration does not allow.
fn denied(store: &mut Store<Data>, kind: FuncType, module: &str, name: &str) -> Func {
    let phase = phase_of(module, name);
    let (family, answer) = if module == "env" {
        ("proxy-wasm", Status::InternalFailure as u32)
    } else {
        ("WASI", ENOTCAPABLE)
    };
    let text = format!("Attempted call to restricted {family} capability: {name}");
    Func::new(store, kind, move |mut caller, _, results| {
        caller.data().check(phase)?;
        if let Some(host) = caller.data_mut().host() {
            host.host_log("error", &text);
        }
        if let Some(result) = results.first_mut() {
            *result = Val::I32(answer.cast_signed());
        }
        Ok(())
    })
}

/// A function type as Envoy writes it: `i32 i64 -> i32`, with `void` for nothing.
pub(crate) fn signature(kind: &FuncType) -> String {
    format!("{} -> {}", list(kind.params()), list(kind.results()))
}

fn list(kinds: impl Iterator<Item = ValType>) -> String {
    let names: Vec<String> = kinds.map(|kind| kind.to_string()).collect();
    if names.is_empty() {
        "void".to_owned()
    } else {
        names.join(" ")
    }
}
