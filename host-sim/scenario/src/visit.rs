//! What arrived at workers, seen from outside: which client's request it was, and when.

use std::time::Duration;

use mock_worker::Request;

use crate::client::RequestId;

/// Most visits that are remembered, the first ones. A day of probes of ten workers fits.
const VISITS_LIMIT: usize = 200_000;
/// Most bytes of bodies that are remembered over all visits; later ones are only counted.
const BODIES_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// One whole request that arrived at a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// When it was complete.
    pub at: Duration,
    /// Name of the worker.
    pub worker: String,
    /// Whose request it is; `None` for a callout of a filter, such as a health check.
    pub client: Option<RequestId>,
    /// What arrived; the body is empty if too much is remembered already.
    pub request: Request,
    /// Length of the body.
    pub body_bytes: usize,
}

/// All visits of a run.
#[derive(Debug, Default)]
pub struct Visits {
    list: Vec<Visit>,
    bodies_bytes: usize,
}

impl Visits {
    /// One more.
    pub fn add(&mut self, mut visit: Visit) {
        if self.list.len() == VISITS_LIMIT {
            return;
        }
        if self.bodies_bytes + visit.body_bytes > BODIES_LIMIT_BYTES {
            visit.request.body = Vec::new();
        }
        self.bodies_bytes += visit.request.body.len();
        self.list.push(visit);
    }

    /// Oldest first.
    pub fn list(&self) -> &[Visit] {
        &self.list
    }
}
