//! What `poll` keeps of the document.

use std::collections::BTreeMap;
use std::time::Duration;

use dragoman_config::Gateway;
use dragoman_sdk::{CalloutResponse, Environment, HostResult, Root, Service};

use crate::probe::{Check, Pending};
use crate::service;

/// A worker to ask.
#[derive(Debug)]
pub(crate) struct Asked {
    pub id: String,
    pub cluster: String,
    /// As Envoy prints it.
    pub address: String,
    pub state: Check,
}

/// The configured service.
#[derive(Debug)]
pub struct Poll {
    pub(crate) workers: Vec<Asked>,
    pub(crate) interval: Duration,
    pub(crate) timeout: Duration,
    pub(crate) ready_path: String,
    pub(crate) models_path: String,
    /// This copy's name in the lease; drawn at the first tick.
    pub(crate) me: Option<u64>,
    /// Callouts that were sent and not answered: at most one per worker, since the next one waits
    /// for it.
    pub(crate) pending: BTreeMap<u32, Pending>,
}

impl Service for Poll {
    fn configure(configuration: &[u8], _: &dyn Environment) -> Result<Self, String> {
        let gateway = dragoman_config::parse(configuration).map_err(|error| error.to_string())?;
        Self::new(gateway)
    }

    fn period(&self) -> Duration {
        service::TICK
    }

    fn on_tick(&mut self, cx: &mut Root<'_>) -> HostResult<()> {
        self.tick(cx)
    }

    fn on_callout(
        &mut self,
        cx: &mut Root<'_>,
        token: u32,
        response: CalloutResponse,
    ) -> HostResult<()> {
        self.answered(cx, token, &response)
    }
}

impl Poll {
    fn new(gateway: Gateway) -> Result<Self, String> {
        let health = gateway
            .health
            .ok_or("health: missing: poll has nothing to do without it")?;
        let workers = gateway
            .workers
            .into_iter()
            .map(|worker| Asked {
                id: worker.id,
                cluster: worker.cluster,
                address: worker.address.to_string(),
                state: Check::default(),
            })
            .collect();
        Ok(Self {
            workers,
            interval: Duration::from_secs(u64::from(health.check_seconds)),
            timeout: Duration::from_millis(u64::from(health.timeout_ms)),
            ready_path: health.ready_path,
            models_path: health.models_path,
            me: None,
            pending: BTreeMap::new(),
        })
    }
}
