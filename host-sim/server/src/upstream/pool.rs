//! Connections to workers that wait for their next request.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;

use tokio::sync::Notify;

use super::attempt::Attempt;

/// Where a connection goes. Clusters do not share connections.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// Name of the cluster.
    pub cluster: String,
    /// Member of it.
    pub address: SocketAddr,
}

/// Most connections that wait for one target on a thread; Envoy's `max_connections` of a cluster.
const IDLE_LIMIT: usize = 1024;

/// A connection that waits.
#[derive(Debug, Default)]
pub struct Idle {
    next: RefCell<Option<Rc<Attempt>>>,
    /// Wakes the connection: it has something to do.
    pub wake: Notify,
}

impl Idle {
    /// What it was given to do.
    pub fn take(&self) -> Option<Rc<Attempt>> {
        self.next.borrow_mut().take()
    }
}

/// The connections of a thread that wait.
#[derive(Debug, Default)]
pub struct Pool {
    idle: RefCell<HashMap<Target, Vec<Rc<Idle>>>>,
}

impl Pool {
    /// Gives the attempt to the connection that was used last, which is the least likely to be
    /// closed by the worker. `false`: none waits.
    #[must_use]
    pub fn give(&self, target: &Target, attempt: &Rc<Attempt>) -> bool {
        let Some(idle) = self.idle.borrow_mut().get_mut(target).and_then(Vec::pop) else {
            return false;
        };
        idle.next.borrow_mut().replace(attempt.clone());
        idle.wake.notify_one();
        true
    }

    /// A connection begins to wait; `None`: enough do.
    #[must_use]
    pub fn wait(&self, target: &Target) -> Option<Rc<Idle>> {
        let mut idle = self.idle.borrow_mut();
        let waiting = idle.entry(target.clone()).or_default();
        if waiting.len() >= IDLE_LIMIT {
            return None;
        }
        let one = Rc::new(Idle::default());
        waiting.push(one.clone());
        Some(one)
    }

    /// The connection waits no more.
    pub fn leave(&self, target: &Target, one: &Rc<Idle>) {
        let mut idle = self.idle.borrow_mut();
        if let Some(waiting) = idle.get_mut(target) {
            waiting.retain(|other| !Rc::ptr_eq(other, one));
            if waiting.is_empty() {
                idle.remove(target);
            }
        }
    }
}
