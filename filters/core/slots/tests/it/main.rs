//! What the slot map and the chunk pool promise, whoever else writes at the same time.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

mod bounds;
mod broken;
mod fake;
mod interleaved;
mod pool;
mod races;
mod records;
mod reuse;
#[cfg(not(target_arch = "wasm32"))]
mod threads;
