//! Every bound of the table, with its reason.

/// Most keys of a table: room above the 100,000 that a large deployment has.
pub const MAX_KEYS: u32 = 131_072;
/// Most bytes of one record without its digest. A record with every field at its limit is larger,
/// one with a dozen long model names is not; eight times a usual one.
pub const MAX_RECORD_BYTES: usize = 2048;
/// Most bytes of a bucket. With [`KEYS_PER_BUCKET`] on average, thirty of the largest records fall
/// into one bucket less than once in ten million tables of them.
pub const MAX_BUCKET_BYTES: usize = 64 * 1024;
/// Most bytes of all records of a table: the largest table with twice the usual record of 200
/// bytes. Shared data has two tables for as long as one replaces the other.
pub const MAX_TABLE_BYTES: u64 = 64 * 1024 * 1024;
/// Records of a bucket on average, at most. A look-up copies one bucket, and up to a few kilobytes
/// that costs what a small one does.
pub const KEYS_PER_BUCKET: u32 = 8;
/// The most buckets, as a power of two: [`MAX_KEYS`] at [`KEYS_PER_BUCKET`] each.
pub const MAX_BUCKET_BITS: u8 = 14;
/// Longest entity tag, in bytes; usual ones have a few dozen.
pub const MAX_ETAG_BYTES: usize = 256;
/// How long a thread believes what it read of the state, in milliseconds. It bounds for how long a
/// key is still accepted after a table without it took over: a tenth of the shortest interval of a
/// poll. Ten small host calls a second of a busy thread are less than it can measure.
pub const FRESH_MS: u64 = 100;
/// Most looks of one look-up: each further one needs another table to have taken over meanwhile,
/// and they come seconds apart.
pub const MAX_LOOKS: u32 = 3;

const _: () = assert!(MAX_KEYS == KEYS_PER_BUCKET << MAX_BUCKET_BITS);
