//! Upstream selection: which workers may be tried, in which order, and what Envoy is told of it.
//!
//! See the README.

mod config;
mod filter;
mod pool;
mod view;

pub use config::Select;
