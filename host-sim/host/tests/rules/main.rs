//! Envoy's rules, one sentence a test, with guests that are Rust closures.

mod bodies;
mod callouts;
mod connection_manager;
mod connections;
mod foreign;
mod grpc;
mod hosts;
mod leaving;
mod limits;
mod logs;
mod lookups;
mod main_thread;
mod maps;
mod pauses;
mod queues;
mod replies;
mod retries;
mod signatures;
mod stage;
mod timeouts;
mod traps;
mod updates;
mod watching;
