//! YAML with lines and paths, for the other files that people write for host-sim. One way of reading,
//! so that one fault reads alike everywhere.
//!
//! [`parse`] makes a tree, [`At`] walks it. A field that nobody asks for is a problem of its own.

pub use crate::at::{At, Fields, Read};
pub use crate::problem::{Problems, Unknown};
pub use crate::tree::{Field, Node, Value, parse};
