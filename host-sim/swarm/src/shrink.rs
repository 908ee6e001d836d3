//! Makes a plan that breaks a promise smaller, as long as it breaks the same one.

use crate::plan::{Plan, RequestPlan};

/// Most runs that one plan is made smaller with: a minute at the usual speed.
pub const RUNS: usize = 400;

/// A smaller plan that still fails, by delta debugging: parts are left out, the larger ones first, then what is left is
/// made plain. `fails` runs a plan; at most [`RUNS`] are tried, and `tried` hears of each.
pub fn shrink(plan: &Plan, mut fails: impl FnMut(&Plan) -> bool) -> Plan {
    let mut search = Search {
        best: plan.clone(),
        left: RUNS,
        fails: &mut fails,
    };
    loop {
        let before = search.best.clone();
        search.drop_of(|plan| &mut plan.requests);
        search.drop_of(|plan| &mut plan.faults);
        search.drop_of(|plan| &mut plan.jumps);
        search.drop_of(|plan| &mut plan.updates_ms);
        search.drop_of(|plan| &mut plan.topology.limits);
        search.drop_of(|plan| &mut plan.topology.endpoints);
        search.drop_workers();
        search.drop_features();
        search.make_plain();
        if search.best == before || search.left == 0 {
            return search.best;
        }
    }
}

struct Search<'a> {
    best: Plan,
    left: usize,
    fails: &'a mut dyn FnMut(&Plan) -> bool,
}

impl Search<'_> {
    /// Keeps a plan that still fails.
    fn attempt(&mut self, change: impl FnOnce(&mut Plan)) -> bool {
        let mut plan = self.best.clone();
        change(&mut plan);
        if plan == self.best || self.left == 0 {
            return false;
        }
        self.left -= 1;
        let fails = (self.fails)(&plan);
        if fails {
            self.best = plan;
        }
        fails
    }

    /// Leaves out halves of a list, then quarters, and so on down to single entries.
    fn drop_of<T>(&mut self, list: impl Fn(&mut Plan) -> &mut Vec<T>) {
        let mut length = list(&mut self.best).len().div_ceil(2);
        while length > 0 {
            let mut start = 0;
            while start < list(&mut self.best).len() {
                let dropped = self.attempt(|plan| {
                    let list = list(plan);
                    let end = (start + length).min(list.len());
                    list.drain(start..end);
                });
                if !dropped {
                    start += length;
                }
            }
            length /= 2;
        }
    }

    fn drop_workers(&mut self) {
        let ids: Vec<String> = self
            .best
            .topology
            .workers
            .iter()
            .map(|worker| worker.id.clone())
            .collect();
        for id in ids {
            self.attempt(|plan| {
                plan.topology.workers.retain(|worker| worker.id != id);
                plan.faults.retain(|fault| fault.worker != id);
                for endpoint in &mut plan.topology.endpoints {
                    endpoint.targets.retain(|target| target.worker != id);
                }
            });
        }
    }

    fn drop_features(&mut self) {
        self.attempt(|plan| plan.topology.idempotency = None);
        self.attempt(|plan| plan.topology.circuit = None);
        self.attempt(|plan| plan.topology.health_s = None);
        self.attempt(|plan| {
            plan.topology.tenants.clear();
            plan.topology.keys.clear();
            plan.topology.limits.clear();
            plan.topology
                .endpoints
                .iter_mut()
                .for_each(|endpoint| endpoint.tenant = None);
        });
        self.attempt(|plan| {
            plan.topology
                .workers
                .iter_mut()
                .for_each(|worker| worker.max_in_flight = None)
        });
        self.attempt(|plan| {
            plan.topology
                .workers
                .iter_mut()
                .for_each(|worker| worker.credential = None)
        });
        self.attempt(|plan| {
            plan.topology
                .keys
                .iter_mut()
                .for_each(|key| key.models = None)
        });
        for threads in 1..self.best.threads {
            if self.attempt(|plan| {
                plan.threads = threads;
                plan.requests
                    .iter_mut()
                    .for_each(|request| request.thread %= threads);
            }) {
                break;
            }
        }
        self.attempt(|plan| plan.heal_after_ms = 0);
    }

    /// Each request without what it does not need.
    fn make_plain(&mut self) {
        let plainer: [fn(&mut RequestPlan); 10] = [
            |request| request.hostile.clear(),
            |request| request.trap = None,
            |request| (request.cuts, request.pause_ms) = (Vec::new(), 0),
            |request| request.chunked = false,
            |request| request.leaves_after_ms = None,
            |request| request.unfinished = false,
            |request| request.key = None,
            |request| request.stream = false,
            |request| request.broken = None,
            |request| request.bytes = 0,
        ];
        for plain in plainer {
            let all = self.attempt(|plan| plan.requests.iter_mut().for_each(plain));
            for place in (0..self.best.requests.len()).filter(|_| !all) {
                self.attempt(|plan| plan.requests.iter_mut().skip(place).take(1).for_each(plain));
            }
        }
        for place in 0..self.best.requests.len() {
            self.attempt(|plan| {
                let requests = plan.requests.iter_mut().skip(place).take(1);
                requests.for_each(|request| request.at_ms = 0);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_left_out() {
        let plan = crate::generate::plan(3);
        let wanted = plan.requests.last().map(|request| request.prompt).unwrap();
        let small = shrink(&plan, |plan| {
            plan.requests.iter().any(|request| request.prompt == wanted)
        });
        assert_eq!(small.requests.len(), 1, "{small:?}");
        assert_eq!(
            (
                small.threads,
                small.faults.len(),
                small.topology.workers.len()
            ),
            (1, 0, 0)
        );
    }

    #[test]
    fn the_number_of_runs_is_bounded() {
        let mut runs = 0;
        shrink(&crate::generate::plan(3), |_| {
            runs += 1;
            runs % 2 == 0
        });
        assert!(runs <= RUNS, "{runs}");
    }
}
