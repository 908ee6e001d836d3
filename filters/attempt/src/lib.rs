//! One attempt at one worker: is it in the plan, under which model name, with which credential,
//! and how did it end.
//!
//! See the README.

mod circuit;
mod config;
mod filter;
mod latency;
mod load;
mod meter;
mod outcome;
mod probe;
mod rewrite;

pub use config::Attempt;
