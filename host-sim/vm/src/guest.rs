//! One instance of a module.

use std::collections::BTreeMap;

use host_sim_host::abi::{Call, HostCalls, Trap, Vm};
use wasmtime::{
    Engine, Extern, Func, Instance, Linker, Module, Store, StoreLimitsBuilder, Val, ValType,
};

use crate::data::{Data, Phase};
use crate::modules::Bounds;

/// The export that names the ABI.
const ABI: &str = "proxy_abi_version_0_2_1";

/// Every callback: parameters (all `i32`) and whether it answers.
const CALLBACKS: [(&str, usize, bool); 14] = [
    ("proxy_on_context_create", 2, false),
    ("proxy_on_vm_start", 2, true),
    ("proxy_on_configure", 2, true),
    ("proxy_on_tick", 1, false),
    ("proxy_on_request_headers", 3, true),
    ("proxy_on_request_body", 3, true),
    ("proxy_on_request_trailers", 2, true),
    ("proxy_on_response_headers", 3, true),
    ("proxy_on_response_body", 3, true),
    ("proxy_on_response_trailers", 2, true),
    ("proxy_on_http_call_response", 5, false),
    ("proxy_on_log", 1, false),
    ("proxy_on_done", 1, true),
    ("proxy_on_delete", 1, false),
];

/// A guest in wasmtime.
pub(crate) struct WasmVm {
    store: Store<Data>,
    instance: Instance,
    callbacks: BTreeMap<&'static str, (Func, bool)>,
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
    ) -> Result<Self, String> {
        if module.get_export(ABI).is_none() {
            return Err(format!("does not export {ABI}"));
        }
        let limits = StoreLimitsBuilder::new()
            .memory_size(bounds.memory_bytes)
            .build();
        let mut store = Store::new(engine, Data::new(limits));
        store.limiter(|data| &mut data.limits);
        let reason = |error: wasmtime::Error| format!("{error:#}");
        store.set_fuel(bounds.fuel_per_call).map_err(reason)?;
        let instance = linker.instantiate(&mut store, module).map_err(reason)?;
        if instance.get_memory(&mut store, "memory").is_none() {
            return Err("exports no memory".to_owned());
        }
        let allocate = ["malloc", "proxy_on_memory_allocate"]
            .iter()
            .find_map(|name| instance.get_typed_func(&mut store, name).ok());
        store.data_mut().allocate =
            Some(allocate.ok_or("exports neither malloc nor proxy_on_memory_allocate")?);
        let callbacks = callbacks(&mut store, instance)?;
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

/// The callbacks that the module has; one with another signature than the ABI's is refused.
fn callbacks(
    store: &mut Store<Data>,
    instance: Instance,
) -> Result<BTreeMap<&'static str, (Func, bool)>, String> {
    let mut found = BTreeMap::new();
    for (name, parameters, answers) in CALLBACKS {
        let Some(Extern::Func(function)) = instance.get_export(&mut *store, name) else {
            continue;
        };
        let kind = function.ty(&*store);
        let numbers = kind
            .params()
            .chain(kind.results())
            .all(|kind| matches!(kind, ValType::I32));
        if !numbers
            || kind.params().len() != parameters
            || kind.results().len() != usize::from(answers)
        {
            return Err(format!("export {name} has a wrong signature"));
        }
        found.insert(name, (function, answers));
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
        let Some((function, answers)) = self.callbacks.get(call.export()).copied() else {
            return Ok(call.default_answer());
        };
        let arguments: Vec<Val> = call
            .arguments()
            .into_iter()
            .map(|value| Val::I32(value.cast_signed()))
            .collect();
        let mut results = [Val::I32(0)];
        let results = &mut results[..usize::from(answers)];
        self.run(host, Phase::Running, function, &arguments, results)?;
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
