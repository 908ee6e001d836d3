//! The rules of the project that can be read off its files.
//!
//! Each module holds one rule as a function from a [`Tree`] to its [`Finding`]s. The tests run
//! every rule on the project, and on small made-up trees that keep and break it.

pub mod code_map;
pub mod commands;
mod finding;
pub mod folders;
pub mod layers;
pub mod manifest;
pub mod modules;
pub mod paths;
pub mod requirements;
pub mod selection;
pub mod source;
pub mod text;
pub mod tokens;
pub mod top_level;
mod tree;

pub use finding::Finding;
pub use tree::Tree;
