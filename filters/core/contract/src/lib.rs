#![doc = include_str!("../README.md")]

pub mod chain;
pub mod errors;
pub mod health;
pub mod identity;
pub mod load;
pub mod names;
pub mod paths;
pub mod plan;
pub mod records;
mod wire;

pub use errors::{Code, Dialect, ErrorBody};
pub use health::Health;
pub use identity::Identity;
pub use paths::{ApiKind, Route};
pub use plan::{Candidate, Plan};
pub use records::{Mode, RequestRecord, Target};
