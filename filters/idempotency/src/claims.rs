//! The claims whose requests are under way on this thread.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use dragoman_slots::Lease;

use crate::claim::Claimant;
use crate::key::RecordId;

/// How many entries the list may have before those of requests that are over are looked for again.
const FIRST_SWEEP: usize = 64;

/// A key that a request holds.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) id: RecordId,
    pub(crate) claimant: Claimant,
    /// Where the answer is copied to.
    pub(crate) chunks: Option<Lease>,
}

/// A list of claims: their leases are renewed by the timer as long as the requests live. It is lost
/// with the VM, and so are the requests; then the leases run out.
///
/// It has at most twice as many entries as there are requests under way, whose number Envoy bounds.
#[derive(Debug)]
pub(crate) struct Claims {
    list: RefCell<Vec<Weak<RefCell<Claim>>>>,
    sweep_at: Cell<usize>,
}

impl Default for Claims {
    fn default() -> Self {
        Self {
            list: RefCell::default(),
            sweep_at: Cell::new(FIRST_SWEEP),
        }
    }
}

impl Claims {
    /// Adds a claim; it leaves the list when what this returns is dropped.
    pub(crate) fn add(&self, claim: Claim) -> Rc<RefCell<Claim>> {
        let claim = Rc::new(RefCell::new(claim));
        let mut list = self.list.borrow_mut();
        if list.len() >= self.sweep_at.get() {
            list.retain(|entry| entry.strong_count() > 0);
            let twice = list.len().saturating_mul(2);
            self.sweep_at.set(twice.max(FIRST_SWEEP));
        }
        list.push(Rc::downgrade(&claim));
        claim
    }

    /// The claims whose requests are under way.
    pub(crate) fn live(&self) -> Vec<Rc<RefCell<Claim>>> {
        let list = self.list.borrow();
        list.iter().filter_map(Weak::upgrade).collect()
    }
}
