#![doc = include_str!("../README.md")]

mod error;
mod request;
mod scanner;
mod string;

pub use error::ScanError;
pub use request::{Field, Model, Request, scan_request};
pub use scanner::MAX_DEPTH;
