//! How the limits on bodies follow from one another. What is rendered and what is checked use the
//! same sums.

/// Most that a connection reads at once, in bytes: `per_connection_buffer_limit_bytes`, here with
/// Envoy's own default.
pub const READ_LIMIT_BYTES: u64 = 1024 * 1024;
/// What a read may bring beyond the limit above, in bytes: one last reservation is 128 KiB, and this
/// leaves room for another.
const RESERVATION_BYTES: u64 = 256 * 1024;
/// The windows that HTTP/2 allows and Envoy accepts, in bytes.
const WINDOW_BYTES: std::ops::RangeInclusive<u64> = 65_535..=(1 << 31) - 1;
/// `initial_stream_window_size` where a configuration gives none, in bytes.
pub const DEFAULT_WINDOW_BYTES: u64 = 16 * 1024 * 1024;

/// `request_body_buffer_limit` for a gateway that refuses bodies above `max_body_bytes`.
///
/// Envoy checks its limit before a filter that buffers sees the new piece of the body, so its limit
/// is higher by the largest piece. Over HTTP/1 that is what one read brings.
#[must_use]
pub fn body_limit_bytes(max_body_bytes: u32, read_limit_bytes: u64) -> u64 {
    u64::from(max_body_bytes)
        .saturating_add(read_limit_bytes)
        .saturating_add(RESERVATION_BYTES)
}

/// `initial_stream_window_size` beside a `request_body_buffer_limit`: over HTTP/2 Envoy buffers up to
/// the larger of the two.
#[must_use]
pub fn window_bytes(body_limit_bytes: u64) -> u64 {
    body_limit_bytes.clamp(*WINDOW_BYTES.start(), *WINDOW_BYTES.end())
}
