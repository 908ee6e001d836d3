#![doc = include_str!("../README.md")]

pub mod errors;
pub mod names;
pub mod paths;
pub mod records;
mod wire;

pub use errors::{Code, Dialect, ErrorBody};
pub use paths::{ApiKind, Route};
pub use records::{Candidate, Mode, Plan, RequestRecord, Target};
