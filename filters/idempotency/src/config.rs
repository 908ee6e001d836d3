//! What `idempotency` keeps of the document, and its timer.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use dragoman_config::{AuthMode, OnUnknown};
use dragoman_sdk::host::Clock;
use dragoman_sdk::{Environment, HostResult, Plugin, Root};
use dragoman_slots::{Salt, SharedData};

use crate::claims::Claims;
use crate::copying::{MAX_HELD_BYTES, Memory};
use crate::filter::Guarding;
use crate::store::Store;

/// Renewals within a lease: one may come late, and another still comes in time.
const RENEWALS_PER_LEASE: u32 = 4;

/// The configured filter.
#[derive(Debug)]
pub struct Idempotency {
    /// `None`: keys are not looked at.
    pub(crate) rules: Option<Rules>,
    pub(crate) claims: Claims,
    pub(crate) memory: Rc<Memory>,
    /// Known from the first request with a key on.
    pub(crate) store: Cell<Option<Store>>,
}

/// The section of the document, in the units of the filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) ttl_ms: u64,
    pub(crate) lease_ms: u64,
    pub(crate) max_response_bytes: usize,
    pub(crate) on_unknown: OnUnknown,
    /// Whether a request has to come with an identity.
    pub(crate) needs_identity: bool,
}

impl Plugin for Idempotency {
    type Filter = Guarding;

    fn configure(configuration: &[u8], _: &dyn Environment) -> Result<Self, String> {
        let gateway = dragoman_config::parse(configuration).map_err(|error| error.to_string())?;
        let rules = gateway.idempotency.map(|section| Rules {
            ttl_ms: u64::from(section.ttl_s).saturating_mul(1000),
            lease_ms: u64::from(section.lease_s).saturating_mul(1000),
            // A module has 32 bits, and so has the field.
            max_response_bytes: usize::try_from(section.max_response_bytes).unwrap_or(usize::MAX),
            on_unknown: section.on_unknown,
            needs_identity: gateway.auth.mode == AuthMode::On,
        });
        Ok(Self {
            rules,
            claims: Claims::default(),
            memory: Memory::new(MAX_HELD_BYTES),
            store: Cell::new(None),
        })
    }

    fn filter(self: &Rc<Self>) -> Guarding {
        Guarding::new(Rc::clone(self))
    }

    fn period(&self) -> Duration {
        let lease = self.rules.map_or(Duration::ZERO, |rules| rules.lease());
        lease.checked_div(RENEWALS_PER_LEASE).unwrap_or(lease)
    }

    /// A request holds its key as long as it lives, however long that is.
    fn on_tick(&self, cx: &mut Root<'_>) -> HostResult<()> {
        let (Some(rules), Some(store)) = (self.rules, self.store.get()) else {
            return Ok(());
        };
        let now_ms = millis(cx.monotonic());
        for claim in self.claims.live() {
            store.renew(cx, &claim.borrow(), now_ms, rules.lease_ms)?;
        }
        Ok(())
    }
}

impl Rules {
    fn lease(&self) -> Duration {
        Duration::from_millis(self.lease_ms)
    }
}

impl Idempotency {
    /// The store of this process, from the first request on. `None`: its salt cannot be read.
    pub(crate) fn agree<S: SharedData>(
        &self,
        shared: &mut S,
        random: [u8; 16],
    ) -> Result<Option<Store>, S::Error> {
        let store = Salt::agree(shared, random)?.map(Store::new);
        self.store.set(store);
        Ok(store)
    }
}

/// Whole milliseconds, the unit of records.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
