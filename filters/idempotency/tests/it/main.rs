//! Whole requests through `idempotency` on the fake host.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod answers;
mod bounds;
mod endings;
mod keys;
mod leases;
mod process;
