//! The target that was fastest lately.

use super::{Member, smallest, somewhere};

/// The recent time of a request, times the requests that would then run there: a worker that was
/// fast while it was idle does not get all that comes (as in the peak-EWMA balancer of Finagle).
///
/// One whose time is not known is tried by one request as if it were the fastest, so it is not left
/// aside; while that runs it counts as the average of the others, so it is not flooded either. Where
/// none is known, the requests in flight decide.
pub(super) fn order(group: Vec<Member<'_>>, random: u64, most: usize) -> Vec<Member<'_>> {
    let usual = Usual::of(&group);
    smallest(&group, somewhere(&group, random), most, |member| {
        usual.cost(member)
    })
}

/// The known times of a group, in milliseconds; 1 where there is none.
pub(super) struct Usual {
    least: f32,
    average: f32,
}

impl Usual {
    pub(super) fn of(group: &[Member<'_>]) -> Self {
        let known = group
            .iter()
            .filter_map(|member| member.candidate.latency_ms);
        let (sum, count, least) = known
            .fold((0.0, 0.0, f32::INFINITY), |(sum, count, least), ms| {
                (sum + ms, count + 1.0, least.min(ms))
            });
        if count > 0.0 {
            let average = sum / count;
            Self { least, average }
        } else {
            Self {
                least: 1.0,
                average: 1.0,
            }
        }
    }

    pub(super) fn cost(&self, member: &Member<'_>) -> f32 {
        let in_flight = member.candidate.in_flight;
        let unknown = if in_flight == 0 {
            self.least
        } else {
            self.average
        };
        let time = member.candidate.latency_ms.unwrap_or(unknown);
        // A time of nothing would make any number of requests free.
        time.max(f32::MIN_POSITIVE) * (in_flight as f32 + 1.0)
    }
}
