//! Runs filters: wasmtime, Envoy's imports and Envoy's own WASI, behind the traits of
//! [`host_sim_host::abi`].

mod abi;
mod data;
mod guest;
mod io;
mod link;
mod modules;

pub use modules::{Bounds, Modules, SetupError};
