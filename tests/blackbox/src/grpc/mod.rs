//! The other side of callouts over gRPC: a real server, and one that breaks the rules.

mod real;
mod rude;

pub use real::Real;
pub use rude::Rude;
