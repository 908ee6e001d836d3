//! Who is calling: turns a credential into an identity, before anything else costs anything.
//!
//! See the README for what it accepts and what it refuses.

mod caller;
mod config;
mod credential;
mod filter;
mod polled;
mod reason;
mod tokens;
mod uploads;

pub use config::Auth;
