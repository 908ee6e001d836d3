//! The one reader of the body: what is asked, of which model, and who could serve it.
//!
//! See the README for what it answers itself.

mod access;
mod charset;
mod config;
mod filter;
mod models;
mod refusal;

pub use config::Alias;
