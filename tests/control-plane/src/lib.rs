#![doc = include_str!("../README.md")]

mod connection;
mod server;
mod table;

pub use server::{Asked, ControlPlane, Fault};
pub use table::{DEFAULT_PAGE_ROWS, MAX_PAGE_ROWS, Table, digest};
