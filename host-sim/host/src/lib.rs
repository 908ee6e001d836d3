//! Envoy, as far as the shipped configuration uses it: streams, filter chains, buffers, the router
//! with its retries, shared data, callouts, timers and metrics, on a clock that is handed in.
//!
//! No wasmtime, no sockets, no threads and no real time: events come in, commands go out
//! ([`io`]), guests are reached through the two directions of the ABI as traits ([`abi`]).

pub mod abi;
mod access_log;
mod admission;
mod breakers;
mod calendar;
mod callouts;
mod chain;
pub mod config;
mod connections;
mod engine;
mod filter;
mod filter_state;
mod flags;
mod foreign;
pub mod format;
mod grpc;
mod guests;
mod hcm;
mod headers;
mod host_calls;
mod inline;
pub mod io;
mod local_reply;
mod lookups;
mod metrics;
mod nested;
mod paths;
mod process;
mod properties;
mod random;
mod response;
mod router;
mod shared_data;
mod shared_queues;
pub mod stats;
mod stream;
mod timers;
mod unreadable;
mod update;
mod versions;
mod wire;
mod worker;

pub use abi::{CodeId, LoadError, Vm, VmFactory};
pub use process::Process;
pub use update::Update;
pub use worker::{StartError, Worker};
