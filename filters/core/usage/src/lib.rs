#![doc = include_str!("../README.md")]

mod counts;
mod events;
mod key;
mod object;
mod scanner;
mod text;

pub use counts::Usage;
pub use scanner::{Kind, MAX_STATE_BYTES, Scanner};
