#![doc = include_str!("../README.md")]

pub mod errors;
pub mod identity;
pub mod names;
pub mod paths;
pub mod plan;
pub mod records;
mod wire;

pub use errors::{Code, Dialect, ErrorBody};
pub use identity::Identity;
pub use paths::{ApiKind, Route};
pub use plan::{Candidate, Plan};
pub use records::{Mode, RequestRecord, Target};
