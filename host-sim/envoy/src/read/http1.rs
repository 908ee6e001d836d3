//! What a configuration says of HTTP/1.1: how large a head may be, and whether trailers count.

use host_sim_host::config::Http1;

use crate::at::{At, Fields, Read};

/// Largest bound of a head that Envoy accepts, in KiB.
const LARGEST_HEAD_KB: u64 = 8192;
/// Largest number of header lines that host-sim reads; Envoy has no bound on it.
const LARGEST_HEADER_LIMIT: u64 = 100_000;

/// `common_http_protocol_options` of a cluster.
pub fn of_workers(fields: &mut Fields<'_>) -> Read<Http1> {
    let workers = Http1::WORKERS;
    Ok(Http1 {
        head_limit_bytes: fields
            .maybe("max_response_headers_kb", head_limit_bytes)?
            .unwrap_or(workers.head_limit_bytes),
        header_limit: fields
            .maybe("max_headers_count", header_limit)?
            .unwrap_or(workers.header_limit),
        ..workers
    })
}

/// A bound of heads, from KiB to bytes.
pub fn head_limit_bytes(at: At<'_>) -> Read<usize> {
    positive(&at, LARGEST_HEAD_KB).map(|kb| kb * 1024)
}

/// `max_headers_count`.
pub fn header_limit(at: At<'_>) -> Read<usize> {
    positive(&at, LARGEST_HEADER_LIMIT)
}

/// `http_protocol_options`: whether trailers are read and written.
pub fn trailers(at: &At<'_>) -> Read<bool> {
    at.map(|options| options.flag("enable_trailers"))
}

fn positive(at: &At<'_>, largest: u64) -> Read<usize> {
    match at.number(largest)? {
        0 => Err(at.problem("0: must be at least 1")),
        number => usize::try_from(number)
            .map_err(|_| at.problem(format!("{number}: must be at most {largest}"))),
    }
}
