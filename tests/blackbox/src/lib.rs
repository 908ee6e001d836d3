//! The harness of the black-box tests: a gateway as a child process in front of mock workers.
//!
//! [`World`] starts everything on free ports and ends it; [`Connection`] speaks HTTP/1.1 byte by
//! byte, [`h2`] HTTP/2. The same test runs on Envoy and on host-sim: [`both_engines!`].

mod builder;
pub mod client;
pub mod differential;
mod document;
pub mod engine;
mod gateway;
pub mod grpc;
mod guest;
pub mod h2;
pub mod issuer;
mod leaks;
mod log;
pub mod plugin;
pub mod ports;
pub mod raw;
mod response;
pub mod secrets;
pub mod shell;
pub mod tally;
pub mod world;

pub use builder::{Places, WorldBuilder};
pub use client::{Connection, End, Response};
pub use document::Document;
pub use engine::Engine;
pub use guest::Guest;
pub use mock_worker::{At, Drip, Faults, How, MockWorker, Request, Seen, Settings};
pub use world::World;
