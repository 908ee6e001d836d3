#![doc = include_str!("../README.md")]

mod rule;
mod state;

pub use rule::{Admission, Rule, Verdict, admits, record, release};
pub use state::{CIRCUIT_BYTES, Circuit, Ticket};
