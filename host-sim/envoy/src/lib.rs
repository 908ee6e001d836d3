#![doc = include_str!("../README.md")]

mod at;
mod document;
pub mod limits;
mod plain;
mod problem;
mod read;
mod render;
mod schema;
mod tree;
pub mod yaml;

pub use document::{Document, Place};
pub use problem::{Kind, MAX_PROBLEMS, Problem};
pub use read::read;
pub use render::{
    REFUSED_CLUSTER, RenderError, RenderOptions, render, wanted_modules, wanted_variables,
};
pub use schema::refused_by_envoy;
pub use tree::{MAX_DEPTH, MAX_FILE_BYTES, MAX_NODES};
