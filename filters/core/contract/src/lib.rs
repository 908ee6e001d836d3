//! What the filters agree on: names, paths, errors and the records they hand to each other.
//!
//! Everything here is plain data and bytes. There is no host, no clock, no configuration and no
//! policy in this crate; two filters that are built from the same version of it understand each
//! other, and a record of an unknown version reads as absent.

pub mod errors;
pub mod names;
pub mod paths;
pub mod records;
mod wire;

pub use errors::{Code, Dialect, ErrorBody};
pub use paths::{ApiKind, Route};
pub use records::{Candidate, Mode, Plan, RequestRecord, Target};
