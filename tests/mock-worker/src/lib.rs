//! A model server that does what a test tells it to.
//!
//! [`Worker`] is pure: a request and the current [`Faults`] become a script of [`Step`]s, with no
//! socket and no clock, so scenarios on a virtual clock play the same worker as black-box tests.
//! `server` (feature `server`) plays the scripts over real sockets.

mod api;
mod apply;
mod control;
pub mod faults;
mod message;
#[cfg(feature = "server")]
pub mod server;
mod worker;

pub use faults::{At, Drip, Faults, How, Interrupt};
pub use message::{Headers, Recorded, Request, Seen, Step, header};
#[cfg(feature = "server")]
pub use server::MockWorker;
pub use worker::{Settings, Worker};
