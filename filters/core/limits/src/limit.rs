//! How fast a bucket fills, and how much it holds.

use std::fmt;

/// Most tokens of a burst or a period: 2^48, far above any quota, and low enough that a bucket's
/// fraction of a nanosecond fits seven bytes and no product overflows 128 bits.
pub const MAX_TOKENS: u64 = 1 << 48;

/// Longest period, and longest time in which an empty bucket fills: 366 days. What takes longer is
/// a typing error, and a bucket's time must stay far from the end of its 64 bits.
pub const MAX_REFILL_MS: u64 = 366 * 24 * 3_600 * 1_000;

const NS_PER_MS: u64 = 1_000_000;

/// Why numbers are no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidLimit {
    /// Tokens, period and burst must each be at least 1.
    Zero,
    /// Tokens and burst must each be at most [`MAX_TOKENS`].
    TooManyTokens,
    /// The period, and the time to fill the whole burst, must each be at most [`MAX_REFILL_MS`].
    TooSlow,
}

impl fmt::Display for InvalidLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero => f.write_str("tokens, period and burst must be at least 1"),
            Self::TooManyTokens => write!(f, "tokens and burst must be at most {MAX_TOKENS}"),
            Self::TooSlow => f.write_str("must fill within 366 days"),
        }
    }
}

impl std::error::Error for InvalidLimit {}

/// So many tokens for each period, and how many may be taken at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    tokens: u64,
    period_ns: u64,
    burst: u64,
}

impl Limit {
    /// `tokens` for each `period_ms`, at most `burst` at once. Half a token a second is 1 token
    /// for 2,000 ms.
    ///
    /// # Errors
    /// Numbers that are 0, too large or too slow.
    pub fn new(tokens: u64, period_ms: u64, burst: u64) -> Result<Self, InvalidLimit> {
        if tokens == 0 || period_ms == 0 || burst == 0 {
            return Err(InvalidLimit::Zero);
        }
        if tokens > MAX_TOKENS || burst > MAX_TOKENS {
            return Err(InvalidLimit::TooManyTokens);
        }
        let refill_ms = u128::from(burst) * u128::from(period_ms) / u128::from(tokens);
        if period_ms > MAX_REFILL_MS || refill_ms > u128::from(MAX_REFILL_MS) {
            return Err(InvalidLimit::TooSlow);
        }
        Ok(Self {
            tokens,
            period_ns: period_ms.saturating_mul(NS_PER_MS),
            burst,
        })
    }

    /// Most tokens at once.
    #[must_use]
    pub fn burst(&self) -> u64 {
        self.burst
    }

    /// Tokens for each period.
    pub(crate) fn tokens(&self) -> u128 {
        u128::from(self.tokens)
    }

    /// So many tokens as a time, in units of 1 / tokens ns: there one token is a whole number,
    /// the period. Below 2^119.
    pub(crate) fn units(&self, tokens: u64) -> u128 {
        u128::from(tokens) * u128::from(self.period_ns)
    }
}
