//! `filters/rate_limit/README.md`: in any time t at most burst + rate * t requests are admitted, over all threads.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{admitted_at, code, is_of_worker};
use crate::body::caller_key;
use crate::plan::{KeyPlan, LimitPlan};
use crate::stage::{Observed, Seen};

/// Requests by bucket: those that certainly took a token, and those that may have.
#[derive(Default)]
struct Bucket {
    taken: Vec<Duration>,
    came: Vec<Duration>,
}

/// Whose bucket it is.
fn name(limit: &LimitPlan, key: &KeyPlan) -> String {
    match limit.by.as_str() {
        "tenant" => key.tenant.clone(),
        "app" => format!("{} {}", key.tenant, key.app),
        _ => key.id.clone(),
    }
}

fn is_limited(seen: &Seen) -> bool {
    !is_of_worker(&seen.response) && code(&seen.response).as_deref() == Some("rate_limited")
}

fn buckets(observed: &Observed<'_>, limit: &LimitPlan) -> BTreeMap<String, Bucket> {
    let mut buckets: BTreeMap<String, Bucket> = BTreeMap::new();
    for seen in &observed.seen {
        let key = caller_key(observed.plan, &seen.plan.caller);
        let Some((key, at)) = key.zip(admitted_at(seen)) else {
            continue;
        };
        let bucket = buckets.entry(name(limit, key)).or_default();
        if !is_limited(seen) {
            bucket.came.push(at);
        }
        // Who was tried at a worker has passed this filter.
        if !seen.attempts.is_empty() {
            bucket.taken.push(at);
        }
    }
    for bucket in buckets.values_mut() {
        bucket.taken.sort_unstable();
    }
    buckets
}

pub(super) fn never_exceeded(observed: &Observed<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for limit in &observed.plan.topology.limits {
        for (name, bucket) in buckets(observed, limit) {
            if let Some((from, to, count)) = excess(limit, &bucket.taken) {
                found.push(format!(
                    "{name}: {count} requests from {from:?} to {to:?}, burst {} and {} in 1000 s",
                    limit.burst, limit.per_1000_s
                ));
            }
        }
    }
    found
}

/// The first window in which more was taken than a bucket can give.
fn excess(limit: &LimitPlan, taken: &[Duration]) -> Option<(Duration, Duration, usize)> {
    /// A token, in the units in which a nanosecond brings `per_1000_s` of them.
    const TOKEN: u128 = 1_000_000_000_000;
    for (first, from) in taken.iter().enumerate() {
        for (count, to) in (1..).zip(taken.iter().skip(first)) {
            let came_back = (*to - *from).as_nanos() * u128::from(limit.per_1000_s);
            if count as u128 * TOKEN > u128::from(limit.burst) * TOKEN + came_back {
                return Some((*from, *to, count));
            }
        }
    }
    None
}

pub(super) fn not_too_early(observed: &Observed<'_>) -> Vec<String> {
    let limits = observed.plan.topology.limits.iter();
    let all: Vec<_> = limits
        .map(|limit| (limit, buckets(observed, limit)))
        .collect();
    let limited = observed.seen.iter().enumerate();
    let early = limited.filter_map(|(place, seen)| {
        let key = caller_key(observed.plan, &seen.plan.caller).filter(|_| is_limited(seen))?;
        let at = admitted_at(seen)?;
        let may_be_empty = all.iter().any(|(limit, buckets)| {
            let came = buckets
                .get(&name(limit, key))
                .map(|bucket| bucket.came.iter());
            let before = came.into_iter().flatten().filter(|other| **other <= at);
            before.count() as u64 >= limit.burst
        });
        (!may_be_empty).then(|| format!("request {place} at {at:?} of {} was limited", key.id))
    });
    early.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_its_burst_and_what_came_back_meanwhile() {
        let limit = LimitPlan {
            by: "key".to_owned(),
            per_1000_s: 2000,
            burst: 3,
        };
        for (times, is_right) in [
            (&[0.0, 0.0, 0.0][..], true),
            (&[0.0, 0.0, 0.0, 0.0], false),
            (&[0.0, 0.0, 0.0, 0.5, 1.0], true),
            (&[0.0, 0.0, 0.0, 0.5, 0.9], false),
            (&[0.0, 7.0, 7.0, 7.0], true),
            (&[0.0, 7.0, 7.0, 7.0, 7.0], false),
        ] {
            let taken: Vec<Duration> = times
                .iter()
                .map(|time| Duration::from_secs_f64(*time))
                .collect();
            assert_eq!(excess(&limit, &taken).is_none(), is_right, "{times:?}");
        }
    }
}
