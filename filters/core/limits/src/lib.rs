#![doc = include_str!("../README.md")]

mod bucket;
mod headers;
mod limit;

pub use bucket::{BUCKET_BYTES, Bucket, Decision, is_full};
pub use headers::{reset_text, retry_after_s};
pub use limit::{InvalidLimit, Limit, MAX_REFILL_MS, MAX_TOKENS};
