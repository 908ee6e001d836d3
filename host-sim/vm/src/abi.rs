//! Which version of the ABI a module speaks, and what it may export under it.

use wasmtime::{ExternType, Module, ValType};

/// A version of the ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    /// Of the first SDKs: other names for going on, header callbacks that are not told of an end, and an
    /// empty value for a header that is not there.
    V0_1_0,
    /// Of older SDKs; like the next one, but for the log level.
    V0_2_0,
    V0_2_1,
}

/// Imports that only the first version has.
const FIRST: [&str; 4] = [
    "proxy_clear_route_cache",
    "proxy_continue_request",
    "proxy_continue_response",
    "proxy_get_configuration",
];

impl Version {
    /// The version that a module names by an export.
    ///
    /// # Errors
    /// Envoy's sentence.
    pub(crate) fn of(module: &Module) -> Result<Version, String> {
        let mut functions = module
            .exports()
            .filter(|export| matches!(export.ty(), ExternType::Func(_)))
            .map(|export| export.name());
        functions
            .find_map(|name| match name {
                "proxy_abi_version_0_1_0" => Some(Version::V0_1_0),
                "proxy_abi_version_0_2_0" => Some(Version::V0_2_0),
                "proxy_abi_version_0_2_1" => Some(Version::V0_2_1),
                _ => None,
            })
            .ok_or_else(|| "Missing or unknown Proxy-Wasm ABI version".to_owned())
    }

    /// Whether an import of `env` belongs to this version.
    pub(crate) fn has(self, import: &str) -> bool {
        match import {
            "proxy_get_log_level" => self >= Version::V0_2_1,
            "proxy_continue_stream" | "proxy_close_stream" => self >= Version::V0_2_0,
            _ => self == Version::V0_1_0 || !FIRST.contains(&import),
        }
    }

    /// The callbacks of this version: name, parameters and whether it answers.
    pub(crate) fn callbacks(self) -> impl Iterator<Item = (&'static str, usize, bool)> {
        let first = self == Version::V0_1_0;
        CALLBACKS
            .into_iter()
            .filter(move |(name, ..)| !first || *name != "proxy_on_foreign_function")
            .map(move |(name, parameters, answers)| match name {
                // Without the end of the stream.
                "proxy_on_request_headers" | "proxy_on_response_headers" if first => {
                    (name, parameters - 1, answers)
                }
                _ => (name, parameters, answers),
            })
    }
}

/// Every callback: parameters (all `i32`) and whether it answers. Some are never called here, but
/// Envoy looks at their signatures all the same.
const CALLBACKS: [(&str, usize, bool); 30] = [
    ("proxy_validate_configuration", 2, true),
    ("proxy_on_context_create", 2, false),
    ("proxy_on_vm_start", 2, true),
    ("proxy_on_configure", 2, true),
    ("proxy_on_tick", 1, false),
    ("proxy_on_new_connection", 1, true),
    ("proxy_on_downstream_data", 3, true),
    ("proxy_on_upstream_data", 3, true),
    ("proxy_on_downstream_connection_close", 2, false),
    ("proxy_on_upstream_connection_close", 2, false),
    ("proxy_on_request_headers", 3, true),
    ("proxy_on_request_body", 3, true),
    ("proxy_on_request_trailers", 2, true),
    ("proxy_on_request_metadata", 2, true),
    ("proxy_on_response_headers", 3, true),
    ("proxy_on_response_body", 3, true),
    ("proxy_on_response_trailers", 2, true),
    ("proxy_on_response_metadata", 2, true),
    ("proxy_on_http_call_response", 5, false),
    ("proxy_on_grpc_receive", 3, false),
    ("proxy_on_grpc_close", 3, false),
    ("proxy_on_grpc_receive_initial_metadata", 3, false),
    ("proxy_on_grpc_receive_trailing_metadata", 3, false),
    ("proxy_on_queue_ready", 2, false),
    ("proxy_on_foreign_function", 3, false),
    ("proxy_on_log", 1, false),
    ("proxy_on_done", 1, true),
    ("proxy_on_delete", 1, false),
    ("envoy_on_resolve_dns", 3, false),
    ("envoy_on_stats_update", 2, false),
];

/// What runs before the first callback: parameters and whether it answers.
pub(crate) const STARTS: [(&str, usize, bool); 4] = [
    ("_initialize", 0, false),
    ("main", 2, true),
    ("__main_void", 0, true),
    ("_start", 0, false),
];

/// Names of the guest's allocator, in the order in which Envoy looks for them.
pub(crate) const ALLOCATORS: [&str; 2] = ["malloc", "proxy_on_memory_allocate"];

/// A signature of the ABI as Envoy writes it.
pub(crate) fn expected(parameters: usize, answers: bool) -> String {
    let parameters = match parameters {
        0 => "void".to_owned(),
        count => vec!["i32"; count].join(" "),
    };
    format!("{parameters} -> {}", if answers { "i32" } else { "void" })
}

/// Whether a function's type is this signature.
pub(crate) fn fits(kind: &wasmtime::FuncType, parameters: usize, answers: bool) -> bool {
    kind.params().len() == parameters
        && kind.results().len() == usize::from(answers)
        && kind
            .params()
            .chain(kind.results())
            .all(|kind| matches!(kind, ValType::I32))
}
