//! How exchanges end.

use host_sim_scenario::End;

use super::{is_complete, named};
use crate::stage::Observed;

/// No stream outlives the idle time-outs of `envoy.yaml`; nobody waits for ever.
pub(super) fn one(observed: &Observed<'_>) -> Vec<String> {
    let seen = observed.seen.iter().enumerate();
    let without = seen.filter_map(|(place, one)| {
        let request = named(place, &one.plan);
        match one.response.end {
            End::Pending => Some(format!(
                "{request} still waits: status {}",
                one.response.status
            )),
            End::Complete(_) if one.response.status < 200 => {
                Some(format!("{request} ended without a status"))
            }
            _ => None,
        }
    });
    without.collect()
}

/// HTTP: `content-length` is exact.
pub(super) fn length(observed: &Observed<'_>) -> Vec<String> {
    let seen = observed.seen.iter().enumerate();
    let wrong = seen.filter_map(|(place, one)| {
        let promised = one.response.header("content-length")?.parse().ok();
        let got = one.response.body().len();
        let wrong = is_complete(&one.response) && promised != Some(got);
        wrong.then(|| {
            format!(
                "{}: {promised:?} promised, {got} came",
                named(place, &one.plan)
            )
        })
    });
    wrong.collect()
}
