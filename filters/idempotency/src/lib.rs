#![doc = include_str!("../README.md")]

mod answers;
mod claim;
mod claims;
mod config;
mod copying;
mod ending;
mod filter;
mod keeping;
mod key;
mod record;
mod replay;
mod running;
mod store;

pub use config::Idempotency;
