//! Envoy, as far as the shipped configuration uses it: streams, filter chains, buffers, the router
//! with its retries, shared data, callouts, timers and metrics, on a clock that is handed in.
//!
//! No wasmtime, no sockets, no threads and no real time: events come in, commands go out
//! ([`io`]), guests are reached through the two directions of the ABI as traits ([`abi`]).

pub mod abi;
mod breakers;
pub mod config;
pub mod format;
pub mod io;
mod metrics;
mod process;
mod random;
mod shared_data;
mod worker;

pub use abi::{LoadError, Vm, VmFactory};
pub use process::Process;
pub use worker::{StartError, Worker};
