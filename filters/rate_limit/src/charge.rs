//! One token from the bucket of every limit, or none from any.

use std::cmp::Reverse;
use std::time::Duration;

use dragoman_contract::Identity;
use dragoman_slots::SharedData;

use crate::buckets::{Buckets, Refusal, Standing};
use crate::config::Configured;

/// Charges a request: a token from each bucket, with the standing of the tightest one (`None`
/// without limits), or a refusal and no token from any.
///
/// The buckets change one after another. While a token is taken that is given back later, another
/// request may be refused for want of it; more than the buckets hold is never admitted.
///
/// # Errors
/// When the host fails; what was taken by then comes back with time.
pub(crate) fn charge<'a, S: SharedData>(
    buckets: Buckets,
    shared: &mut S,
    (limits, caller): (&'a [Configured], &Identity<'_>),
    now: Duration,
) -> Result<Result<Option<Standing>, Refusal<'a>>, S::Error> {
    let limits = counting(limits, caller);
    let mut tightest: Option<Standing> = None;
    for (index, limit) in limits.iter().copied().enumerate() {
        match buckets.take(shared, (limit, caller), now)? {
            Ok(standing) => {
                tightest = Some(tightest.map_or(standing, |other| tighter(other, standing)));
            }
            Err(refusal) => {
                for limit in limits.iter().copied().take(index) {
                    buckets.give_back(shared, (limit, caller), now)?;
                }
                let mut longest = refusal;
                for limit in limits.iter().copied().skip(index.saturating_add(1)) {
                    let other = buckets.look(shared, (limit, caller), now)?;
                    longest = longer(longest, other);
                }
                return Ok(Err(longest));
            }
        }
    }
    Ok(Ok(tightest))
}

/// The limits that count a caller's requests. One who names a limit that is not there, as can be
/// while filters take over a new document one after another, is counted by all.
fn counting<'a>(limits: &'a [Configured], caller: &Identity<'_>) -> Vec<&'a Configured> {
    let is_here = |name: &&str| limits.iter().any(|limit| limit.name == **name);
    let all = caller.limits.iter().flatten().any(|name| !is_here(name));
    let counts = |limit: &&Configured| all || caller.is_counted_by(&limit.name);
    limits.iter().filter(counts).collect()
}

/// The one with less left, and of two with as much the one that takes longer to fill.
fn tighter(one: Standing, other: Standing) -> Standing {
    std::cmp::min_by_key(one, other, |it| (it.remaining, Reverse(it.reset_ms)))
}

/// The one to wait for, so that a client who comes back then is not refused by the next limit.
fn longer<'a>(one: Refusal<'a>, other: Result<Standing, Refusal<'a>>) -> Refusal<'a> {
    match (one, other) {
        (
            Refusal::Empty { retry_after_ms, .. },
            Err(
                other @ Refusal::Empty {
                    retry_after_ms: longer,
                    ..
                },
            ),
        ) if longer > retry_after_ms => other,
        _ => one,
    }
}

#[cfg(test)]
mod tests;
