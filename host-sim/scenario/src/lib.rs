#![doc = include_str!("../README.md")]

mod agenda;
mod attempt;
pub mod bench;
mod client;
mod host_calls;
mod random;
mod setup;
mod site;
mod trace;
mod turns;
mod visit;
mod world;

pub use client::{End, Request, RequestId, Response};
pub use host_calls::{HostCallCounts, HostCalls};
pub use mock_worker::{At, Drip, Faults, How, Recorded, Seen, Worker};
pub use setup::{Setup, SetupError};
pub use site::Change;
pub use trace::TRACE_LINES;
pub use visit::Visit;
pub use world::{Ended, LogLine, World};
