#![doc = include_str!("../README.md")]

mod config;
mod lease;
mod models;
mod probe;
mod service;

pub use config::Poll;
