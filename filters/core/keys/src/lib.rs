#![doc = include_str!("../README.md")]

mod bounds;
mod bucket;
mod build;
mod look;
mod state;
mod sweep;
mod table;

pub use bounds::{
    FRESH_MS, KEYS_PER_BUCKET, MAX_BUCKET_BITS, MAX_BUCKET_BYTES, MAX_ETAG_BYTES, MAX_KEYS,
    MAX_LOOKS, MAX_RECORD_BYTES, MAX_TABLE_BYTES,
};
pub use build::{Begin, Build, Refusal, Written, abandon, begin};
pub use look::{Found, Looker};
pub use state::{Current, Other, STATE_KEY, State, confirm, state};
pub use sweep::{Departure, Progress, Sweep};
pub use table::{Digest, Salt, Table};
