//! Every bound, with its reason.

/// How long a thread believes what it read of the state, in milliseconds. It bounds for how long a
/// key is still accepted, and a new one unknown, after a set took over; and with it the host calls
/// to one small read a second and issuer, whatever the number of requests.
pub const FRESH_MS: u64 = 1000;
/// How often a thread sets the mark of an issuer, in milliseconds: strangers can make up key ids.
pub const WANT_EVERY_MS: u64 = 1000;
/// Longest entity tag that is kept, in bytes; usual ones have a few dozen.
pub const MAX_ETAG_BYTES: usize = 256;
/// Most bytes of a set as it is kept: twice the longest that an issuer may publish, because keys
/// that left it are kept for a while.
pub const MAX_SET_BYTES: usize = 128 * 1024;
