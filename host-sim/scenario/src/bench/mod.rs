//! What requests cost each filter, in instructions: numbers without noise, to be kept in a table and compared.
//!
//! An instruction is one of WebAssembly, counted by wasmtime as it runs: the same on every machine, in every
//! build of host-sim and on every run. What the host does meanwhile costs none.

mod compare;
mod instructions;
mod requests;
mod table;
mod tokens;

pub use compare::{Comparison, FLOOR_INSTRUCTIONS, Verdict};
pub use instructions::InstructionCounts;
pub use requests::measure;
pub use table::{Row, Table, TableError};
