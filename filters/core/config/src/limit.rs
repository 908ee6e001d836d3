//! Rate limits: token buckets per tenant, application or key.

use crate::error::ConfigError;
use crate::form::id;
use crate::raw::Raw;
use crate::read::{list, object, whole, word};
use crate::unique::unique;

/// Most limits. Each costs every request a compare-and-swap in shared data.
pub const MAX_LIMITS: usize = 8;
/// Most bytes of a limit's name, a label of metrics.
pub const MAX_LIMIT_NAME_BYTES: usize = 64;
/// Largest rate, in requests per second: beyond what one Envoy process serves.
pub const MAX_PER_SECOND: u32 = 1_000_000;
/// Largest bucket, in requests.
pub const MAX_BURST: u32 = 1_000_000;
/// Longest time in which an empty bucket fills, in seconds: 366 days. What takes longer is a slip,
/// and a bucket's time must stay within its bits.
pub const MAX_REFILL_S: u64 = 366 * 24 * 3600;

/// A token bucket for each value of its dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limit {
    /// Unique, at most [`MAX_LIMIT_NAME_BYTES`].
    pub name: String,
    /// What has a bucket of its own: in the order of [`Dimension`], each once, at least one.
    /// An application is one of its tenant, so [`Dimension::App`] comes with [`Dimension::Tenant`].
    pub by: Vec<Dimension>,
    /// Requests per 1000 seconds, 1 to 1000 times [`MAX_PER_SECOND`]; a whole number, so that
    /// buckets need no fractions.
    pub per_1000_s: u32,
    /// Size of the bucket in requests, 1 to [`MAX_BURST`].
    pub burst: u32,
}

/// A property of callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dimension {
    /// The tenant.
    Tenant,
    /// The application within the tenant.
    App,
    /// The API key.
    Key,
}

/// The section.
pub(crate) fn limits(raw: &Raw) -> Result<Vec<Limit>, ConfigError> {
    let limits = list(raw, MAX_LIMITS, |raw, _| limit(raw))?;
    let names = limits.iter().map(|limit: &Limit| limit.name.as_str());
    unique("limits", "name", names)?;
    Ok(limits)
}

fn limit(raw: &Raw) -> Result<Limit, ConfigError> {
    object(raw, &["name", "by", "rate"], |fields| {
        let name = fields.required("name", |raw| id(raw, MAX_LIMIT_NAME_BYTES))?;
        let by = fields.required("by", dimensions)?;
        let (per_1000_s, burst) = fields.required("rate", rate)?;
        Ok(Limit {
            name,
            by,
            per_1000_s,
            burst,
        })
    })
}

/// How fast a bucket fills, per 1000 seconds, and what it holds.
fn rate(raw: &Raw) -> Result<(u32, u32), ConfigError> {
    object(raw, &["per_second", "burst"], |fields| {
        let per_1000_s = fields.required("per_second", per_1000_s)?;
        let burst = fields.required("burst", |raw| whole(raw, 1, MAX_BURST))?;
        if u64::from(burst) * 1000 > MAX_REFILL_S * u64::from(per_1000_s) {
            return Err(ConfigError::new("must fill the burst within 366 days"));
        }
        Ok((per_1000_s, burst))
    })
}

fn dimensions(raw: &Raw) -> Result<Vec<Dimension>, ConfigError> {
    let words = [
        ("tenant", Dimension::Tenant),
        ("app", Dimension::App),
        ("key", Dimension::Key),
    ];
    let mut by = list(raw, words.len(), |raw, before| {
        let dimension = word(raw, &words)?;
        if before.contains(&dimension) {
            return Err(ConfigError::of(raw, "is given twice"));
        }
        Ok(dimension)
    })?;
    if by.is_empty() {
        return Err(ConfigError::new("must name at least one dimension"));
    }
    if by.contains(&Dimension::App) && !by.contains(&Dimension::Tenant) {
        by.push(Dimension::Tenant);
    }
    by.sort_unstable();
    Ok(by)
}

/// A rate, exact to the thousandth of a request per second.
fn per_1000_s(raw: &Raw) -> Result<u32, ConfigError> {
    let most = f64::from(MAX_PER_SECOND);
    let rate = match raw {
        Raw::Whole(number) => {
            f64::from(u32::try_from((*number).clamp(0, i128::from(u32::MAX))).unwrap_or(u32::MAX))
        }
        Raw::Fraction(number) => *number,
        _ => return Err(ConfigError::of(raw, "must be a number")),
    };
    if rate <= 0.0 {
        return Err(ConfigError::of(raw, "must be above 0"));
    }
    if rate > most {
        return Err(ConfigError::of(
            raw,
            format!("must be at most {MAX_PER_SECOND}"),
        ));
    }
    // The cast is exact: the value is whole and at most 10^9.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bounded above"
    )]
    let thousandths = (rate * 1000.0).round() as u32;
    #[allow(
        clippy::float_cmp,
        reason = "both are the nearest number to the same decimal"
    )]
    let exact = f64::from(thousandths) / 1000.0 == rate;
    if exact {
        return Ok(thousandths);
    }
    Err(ConfigError::of(raw, "must be a multiple of 0.001"))
}
