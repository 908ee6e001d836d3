#![doc = include_str!("../README.md")]

mod agenda;
mod attempt;
pub mod bench;
mod client;
mod expect;
pub mod explain;
pub mod file;
pub mod golden;
mod host_calls;
mod onlook;
pub mod play;
mod random;
mod record;
pub mod report;
mod setup;
mod site;
pub mod suite;
mod trace;
mod turns;
mod visit;
mod world;

pub use client::{End, Request, RequestId, Response};
pub use host_calls::{HostCallCounts, HostCalls};
pub use mock_worker::{At, Drip, Faults, How, Recorded, Seen, Worker};
pub use onlook::Onlooker;
pub use setup::{Setup, SetupError};
pub use site::Change;
pub use trace::TRACE_LINES;
pub use visit::Visit;
pub use world::{Ended, LogLine, World};
