//! Runs filters: wasmtime, Envoy's imports and Envoy's own WASI, behind the traits of
//! [`host_sim_host::abi`].

mod modules;

pub use modules::{Modules, SetupError};
