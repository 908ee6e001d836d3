#![doc = include_str!("../README.md")]

mod bytes;
mod key;
mod layout;
mod map;
mod pool;
mod purpose;
mod salt;
mod shared;

pub use bytes::Reader;
pub use key::{Key, MAX_TENANT_BYTES};
pub use map::{Change, Outcome, Read, SlotMap};
pub use pool::{
    CHUNK_BYTES, ChunkRef, Lease, MAX_BODY_CHUNKS, PAGE_CHUNKS, Pool, PoolBounds, Write,
};
pub use purpose::{Purpose, WhenFull, bound_bytes};
pub use salt::Salt;
pub use shared::{ABSENT, MAX_TRIES, SharedData, Swap, swap};
