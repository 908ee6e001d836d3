//! One instance of a module.

use std::collections::BTreeMap;

use host_sim_host::abi::{Call, HostCalls, Trap, Vm};
use wasmtime::{Engine, Func, Instance, Linker, Module, Store, StoreLimitsBuilder, Val};

use crate::abi::{ALLOCATORS, STARTS, expected, fits};
use crate::data::{Data, Phase};
use crate::link::{Rights, resolve, signature};
use crate::modules::Bounds;

/// Envoy's word when V8 cannot make an instance: memory over the bound, data outside of it, a start
/// section that traps.
const NO_INSTANCE: &str = "Failed to create new Wasm instance";

/// An export that the host calls.
#[derive(Clone, Copy)]
struct Callback {
    function: Func,
    /// How many arguments it takes; the first version of the ABI has fewer.
    parameters: usize,
    answers: bool,
}

/// A guest in wasmtime.
pub(crate) struct WasmVm {
    store: Store<Data>,
    instance: Instance,
    callbacks: BTreeMap<&'static str, Callback>,
    fuel_per_call: u64,
    /// Of the last call.
    instructions: u64,
}

impl WasmVm {
    /// Links an instance; nothing of it has run yet.
    pub(crate) fn new(
        engine: &Engine,
        linker: &Linker<Data>,
        module: &Module,
        bounds: Bounds,
        rights: Rights<'_>,
    ) -> Result<Self, String> {
        let limits = StoreLimitsBuilder::new()
            .memory_size(bounds.memory_bytes)
            .build();
        let mut store = Store::new(engine, Data::new(limits, rights.version));
        store.limiter(|data| &mut data.limits);
        store
            .set_fuel(bounds.fuel_per_call)
            .map_err(|error| format!("{error:#}"))?;
        let imports = resolve(linker, &mut store, module, rights)?;
        let instance = Instance::new(&mut store, module, &imports)
            .map_err(|error| format!("{NO_INSTANCE}: {error:#}"))?;
        let exported = instance
            .exports(&mut store)
            .find_map(wasmtime::Export::into_memory);
        if exported.is_some() {
            store.data_mut().memory = exported;
        }
        check_starts(&mut store, instance)?;
        find_allocator(&mut store, instance)?;
        let callbacks = callbacks(&mut store, instance, rights)?;
        Ok(WasmVm {
            store,
            instance,
            callbacks,
            fuel_per_call: bounds.fuel_per_call,
            instructions: 0,
        })
    }

    fn run(
        &mut self,
        host: &mut dyn HostCalls,
        phase: Phase,
        function: Func,
        arguments: &[Val],
        results: &mut [Val],
    ) -> Result<(), Trap> {
        let trap = |error: wasmtime::Error| Trap(format!("{error:#}"));
        self.store.set_fuel(self.fuel_per_call).map_err(trap)?;
        self.store.data_mut().phase = phase;
        self.store.data_mut().lend(host);
        let result = function.call(&mut self.store, arguments, results);
        self.store.data_mut().take_back();
        let left = self.store.get_fuel().map_err(trap)?;
        self.instructions += self.fuel_per_call.saturating_sub(left);
        result.map_err(trap)
    }

    fn run_start(&mut self, host: &mut dyn HostCalls, name: &str) -> Result<bool, Trap> {
        let Some(function) = self.instance.get_func(&mut self.store, name) else {
            return Ok(false);
        };
        let kind = function.ty(&self.store);
        let arguments = vec![Val::I32(0); kind.params().len()];
        let mut results = vec![Val::I32(0); kind.results().len()];
        self.run(host, Phase::Starting, function, &arguments, &mut results)?;
        Ok(true)
    }
}

/// An exported function, if it has the signature that it must have.
fn checked(
    store: &mut Store<Data>,
    instance: Instance,
    (name, parameters, answers): (&str, usize, bool),
) -> Result<Option<Func>, String> {
    let Some(function) = instance.get_func(&mut *store, name) else {
        return Ok(None);
    };
    let kind = function.ty(&*store);
    if fits(&kind, parameters, answers) {
        return Ok(Some(function));
    }
    Err(format!(
        "Bad function signature for: {name}, want: {}, but the module exports: {}",
        expected(parameters, answers),
        signature(&kind)
    ))
}

/// Looks at those start functions that will run; Envoy does not look at the others.
fn check_starts(store: &mut Store<Data>, instance: Instance) -> Result<(), String> {
    let reactor = instance.get_func(&mut *store, "_initialize").is_some();
    for start in STARTS {
        if reactor != (start.0 == "_start") {
            checked(store, instance, start)?;
        }
    }
    Ok(())
}

fn find_allocator(store: &mut Store<Data>, instance: Instance) -> Result<(), String> {
    for name in ALLOCATORS {
        if let Some(function) = checked(store, instance, (name, 1, true))? {
            let allocate = function
                .typed(&*store)
                .map_err(|error| format!("{error:#}"))?;
            store.data_mut().allocate = Some(allocate);
            return Ok(());
        }
    }
    Err("Wasm module is missing malloc function: it exports neither malloc nor proxy_on_memory_allocate".to_owned())
}

/// The callbacks that the module has and may have.
fn callbacks(
    store: &mut Store<Data>,
    instance: Instance,
    rights: Rights<'_>,
) -> Result<BTreeMap<&'static str, Callback>, String> {
    let mut found = BTreeMap::new();
    for callback @ (name, parameters, answers) in rights.version.callbacks() {
        if !rights.allow(name) && name.starts_with("proxy_") {
            continue;
        }
        if let Some(function) = checked(store, instance, callback)? {
            let callback = Callback {
                function,
                parameters,
                answers,
            };
            found.insert(name, callback);
        }
    }
    Ok(found)
}

impl Vm for WasmVm {
    fn start(&mut self, host: &mut dyn HostCalls) -> Result<(), Trap> {
        self.instructions = 0;
        if self.run_start(host, "_initialize")? {
            let _ = self.run_start(host, "main")? || self.run_start(host, "__main_void")?;
        } else {
            self.run_start(host, "_start")?;
        }
        Ok(())
    }

    fn call(&mut self, host: &mut dyn HostCalls, call: &Call) -> Result<u32, Trap> {
        self.instructions = 0;
        let Some(callback) = self.callbacks.get(call.export()).copied() else {
            return Ok(call.default_answer());
        };
        let arguments: Vec<Val> = call
            .arguments()
            .into_iter()
            .take(callback.parameters)
            .map(|value| Val::I32(value.cast_signed()))
            .collect();
        let mut results = [Val::I32(0)];
        let results = &mut results[..usize::from(callback.answers)];
        self.run(host, Phase::Running, callback.function, &arguments, results)?;
        Ok(results
            .first()
            .and_then(Val::i32)
            .map_or(0, i32::cast_unsigned))
    }

    fn exports(&self, call: &Call) -> bool {
        self.callbacks.contains_key(call.export())
    }

    fn instructions(&self) -> u64 {
        self.instructions
    }
}
