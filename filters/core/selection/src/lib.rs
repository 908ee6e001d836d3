#![doc = include_str!("../README.md")]

mod candidate;
mod draw;
mod filters;
mod need;
mod pipeline;
mod reason;
mod refusal;
mod strategies;

pub use candidate::{Candidate, Classes};
pub use draw::Draw;
pub use need::{Need, Policy, caller_hash};
pub use pipeline::Pool;
pub use reason::Reason;
pub use refusal::{MAX_RETRY_AFTER_S, Refusal, refusal};
pub use strategies::{Strategy, TopK, Turns};
