//! HTTP/1.1 without sockets: bytes in, parts of messages out, and back.
//!
//! The rules are those of Envoy's codec with its default options. What differs is in the README.

pub mod body;
pub mod buffer;
pub mod encode;
pub mod forgive;
pub mod head;
pub mod hop;
pub mod line;

pub mod request;
pub mod response;
pub mod target;

#[cfg(test)]
mod tests;
