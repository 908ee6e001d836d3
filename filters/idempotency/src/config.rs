//! What `idempotency` keeps of the document, and its timer.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use dragoman_config::{AuthMode, OnUnknown};
use dragoman_sdk::host::{Clock, Level, millis};
use dragoman_sdk::{Environment, HostError, HostResult, Plugin, Root};
use dragoman_slots::{Salt, SharedData};

use crate::claims::Claims;
use crate::copying::{MAX_HELD_BYTES, Memory};
use crate::filter::Guarding;
use crate::store::{Store, bound_bytes};

/// Renewals within a lease: one may come late, and another still comes in time.
const RENEWALS_PER_LEASE: u32 = 4;

/// The configured filter.
#[derive(Debug)]
pub struct Idempotency {
    /// `None`: keys are not looked at.
    pub(crate) rules: Option<Rules>,
    pub(crate) claims: Claims,
    pub(crate) memory: Rc<Memory>,
    /// Known once the salt of the process was read.
    store: Cell<Option<Store>>,
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

    fn on_start(&self, cx: &mut Root<'_>) -> HostResult<()> {
        if self.rules.is_none() {
            return Ok(());
        }
        let bound_bytes = bound_bytes();
        let text = format!("idempotency: at most {bound_bytes} bytes of shared data");
        cx.log(Level::Info, &text);
        self.store(cx).map(drop)
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
    /// The store of this process. `None`: its salt cannot be read.
    pub(crate) fn store<C>(&self, cx: &mut C) -> HostResult<Option<Store>>
    where
        C: SharedData<Error = HostError> + Clock,
    {
        if self.store.get().is_none() {
            let random = random(cx);
            let salt = Salt::agree(cx, random)?;
            self.store.set(salt.map(Store::new));
        }
        Ok(self.store.get())
    }
}

/// 128 random bits.
pub(crate) fn random(clock: &mut impl Clock) -> [u8; 16] {
    let (low, high) = (u128::from(clock.random()), u128::from(clock.random()));
    (high << 64 | low).to_le_bytes()
}
