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
pub mod scopes;
pub mod wire;

pub use errors::{Code, Dialect, ErrorBody};
pub use health::Health;
pub use identity::{Class, Identity};
pub use paths::{ApiKind, Route};
pub use plan::{Candidate, Plan};
pub use records::RequestRecord;
pub use scopes::{PathScope, Scope, Scopes};
