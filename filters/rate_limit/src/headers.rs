//! What clients are told, in the words of OpenAI's API.

use dragoman_limits::reset_text;

use crate::buckets::Standing;

/// Most requests at once.
const LIMIT: &str = "x-ratelimit-limit-requests";
/// Requests left.
const REMAINING: &str = "x-ratelimit-remaining-requests";
/// Time until all are there again.
const RESET: &str = "x-ratelimit-reset-requests";

/// Header lines of a response.
pub(crate) fn lines(standing: &Standing) -> [(&'static str, String); 3] {
    [
        (LIMIT, standing.burst.to_string()),
        (REMAINING, standing.remaining.to_string()),
        (RESET, reset_text(standing.reset_ms)),
    ]
}
