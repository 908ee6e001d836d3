//! Upstream selection: which workers may be tried, in which order, and what Envoy is told of it.
//!
//! See the README.

mod candidates;
mod choice;
mod config;
mod filter;
mod load;
mod route;
mod speed;
mod trial;
mod view;

pub use config::Select;
