//! Why a request goes where it goes, for the access log: one short line.

use std::fmt::Write as _;

use crate::choice::Choice;
use crate::config::{Endpoint, Select};

/// Most workers that the line names with the reason why they were left out; the others are counted.
const MAX_NAMED: usize = 8;

/// `STRATEGY LEFT/ALL`, then `trial` where a circuit waits for this request, then `WORKER=REASON` of
/// those that were left out.
pub(crate) fn text(select: &Select, endpoint: &Endpoint, choice: &Choice) -> String {
    let all = choice.candidates.len();
    let left = all.saturating_sub(choice.removed.len());
    let mut line = format!("{} {left}/{all}", endpoint.strategy.as_str());
    if choice.trial.is_some() {
        line.push_str(" trial");
    }
    for (place, why) in choice.removed.iter().take(MAX_NAMED) {
        let target = endpoint.targets.get(*place);
        let worker = target.and_then(|target| select.workers.get(target.worker));
        let id = worker.map_or("?", |worker| worker.id.as_str());
        // Writing into a string cannot fail.
        let _ = write!(line, " {id}={why}");
    }
    if let Some(more) = choice
        .removed
        .len()
        .checked_sub(MAX_NAMED)
        .filter(|more| *more > 0)
    {
        let _ = write!(line, " +{more}");
    }
    line
}
