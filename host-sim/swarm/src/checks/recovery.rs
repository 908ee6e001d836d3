//! After the end of all faults, and the times in which filters forget them, every endpoint serves again, and nothing
//! counts as in flight any more.

use super::{code, is_of_worker};
use crate::stage::Observed;

pub(super) fn all_served(observed: &Observed<'_>) -> Vec<String> {
    let recovered = observed.recovered.iter();
    let wrong = recovered.filter_map(|one| {
        let response = &one.response;
        let served = response.status == 200 && is_of_worker(response) && response.is_complete();
        (!served).then(|| {
            let code = code(response);
            format!(
                "{} on thread {}: {} {code:?}",
                one.model, one.thread, response.status
            )
        })
    });
    wrong.collect()
}
