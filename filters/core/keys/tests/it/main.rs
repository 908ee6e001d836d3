//! What the key table promises, whoever else writes at the same time.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

mod bounds;
mod fake;
mod interleaved;
mod late;
mod lookups;
mod memory;
mod sweeps;
