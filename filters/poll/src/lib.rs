#![doc = include_str!("../README.md")]

mod config;
mod issuer_keys;
mod issuer_meters;
mod key_table;
mod lease;
mod meters;
mod models;
mod page;
mod probe;
mod service;
mod source;
mod workers;

pub use config::Poll;
