#![doc = include_str!("../README.md")]

mod buckets;
mod charge;
mod config;
mod filter;
mod headers;

pub use config::RateLimit;
