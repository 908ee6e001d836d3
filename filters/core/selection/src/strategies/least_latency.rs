//! The target that was fastest lately.

use super::{Member, smallest, somewhere};

/// The recent time of a request, times the requests that would then run there: a worker that was
/// fast while it was idle does not get all that comes (as in the peak-EWMA balancer of Finagle).
///
/// One whose time is not known counts as the average of the others, so it is neither flooded nor
/// left aside; where none is known, the requests in flight decide.
pub(super) fn order(group: Vec<Member<'_>>, random: u64, most: usize) -> Vec<Member<'_>> {
    let usual = average(&group);
    smallest(&group, somewhere(&group, random), most, |member| {
        cost(member, usual)
    })
}

pub(super) fn cost(member: &Member<'_>, usual_ms: f32) -> f32 {
    let time = member.candidate.latency_ms.unwrap_or(usual_ms);
    // A time of nothing would make any number of requests free.
    time.max(f32::MIN_POSITIVE) * (member.candidate.in_flight as f32 + 1.0)
}

/// The average of the known times; 1 where there is none.
pub(super) fn average(group: &[Member<'_>]) -> f32 {
    let known = group
        .iter()
        .filter_map(|member| member.candidate.latency_ms);
    let (sum, count) = known.fold((0.0, 0.0), |(sum, count), time| (sum + time, count + 1.0));
    if count > 0.0 { sum / count } else { 1.0 }
}
