//! What `rate_limit` keeps of the document.

use std::cell::Cell;
use std::rc::Rc;

use dragoman_config::Dimension;
use dragoman_limits::Limit;
use dragoman_sdk::host::{Clock, Level};
use dragoman_sdk::{Environment, HostError, HostResult, Plugin, Root};
use dragoman_slots::SharedData;

use crate::buckets::{BUCKETS, Buckets};
use crate::filter::Limiting;

/// The configured filter.
#[derive(Debug)]
pub struct RateLimit {
    /// In the order of the document.
    pub(crate) limits: Vec<Configured>,
    /// Once they were found; where they are never changes.
    buckets: Cell<Option<Buckets>>,
}

/// A limit of the document.
#[derive(Clone, Debug)]
pub(crate) struct Configured {
    pub(crate) name: String,
    /// What has a bucket of its own; in the order of [`Dimension`], each once.
    pub(crate) by: Vec<Dimension>,
    pub(crate) limit: Limit,
}

impl Plugin for RateLimit {
    type Filter = Limiting;

    fn configure(configuration: &[u8], _: &dyn Environment) -> Result<Self, String> {
        let gateway = dragoman_config::parse(configuration).map_err(|error| error.to_string())?;
        let limits = gateway.limits.into_iter().enumerate().map(checked);
        Ok(Self {
            limits: limits.collect::<Result<_, _>>()?,
            buckets: Cell::new(None),
        })
    }

    fn on_start(&self, cx: &mut Root<'_>) -> HostResult<()> {
        if self.limits.is_empty() {
            return Ok(());
        }
        let bound_bytes = BUCKETS.bound_bytes();
        let text = format!("rate_limit: at most {bound_bytes} bytes of shared data");
        cx.log(Level::Info, &text);
        self.buckets(cx).map(drop)
    }

    fn filter(self: &Rc<Self>) -> Limiting {
        Limiting::new(Rc::clone(self))
    }
}

impl RateLimit {
    /// The buckets of this process. `None`: another version of the gateway has placed them in a way
    /// that this one does not know.
    pub(crate) fn buckets<C>(&self, cx: &mut C) -> HostResult<Option<Buckets>>
    where
        C: SharedData<Error = HostError> + Clock,
    {
        if self.buckets.get().is_none() {
            let random = [cx.random(), cx.random()];
            self.buckets.set(Buckets::find(cx, random)?);
        }
        Ok(self.buckets.get())
    }
}

fn checked((index, limit): (usize, dragoman_config::Limit)) -> Result<Configured, String> {
    const PERIOD_MS: u64 = 1_000_000;
    let bucket = Limit::new(limit.per_1000_s.into(), PERIOD_MS, limit.burst.into())
        .map_err(|reason| format!("limits[{index}].rate: {reason}"))?;
    Ok(Configured {
        name: limit.name,
        by: limit.by,
        limit: bucket,
    })
}
