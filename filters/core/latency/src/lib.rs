#![doc = include_str!("../README.md")]

mod average;
mod record;

pub use average::{Average, HALF_LIFE};
pub use record::{Latencies, Latency, PUBLISH};
