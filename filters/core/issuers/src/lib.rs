#![doc = include_str!("../README.md")]

mod bounds;
mod look;
mod publish;
mod state;
mod wanted;

pub use bounds::{FRESH_MS, MAX_ETAG_BYTES, MAX_SET_BYTES, WANT_EVERY_MS};
pub use look::{Looker, Seen};
pub use publish::{Publish, Published, confirm, publish, published};
pub use state::Origin;
pub use wanted::{want, wanted};
