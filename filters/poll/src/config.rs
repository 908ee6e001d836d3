//! What `poll` keeps of the document.

use std::time::Duration;

use dragoman_config::{AuthMode, Gateway};
use dragoman_sdk::{CalloutResponse, Environment, HostResult, Root, Service};

use crate::issuer_keys::IssuerKeys;
use crate::key_table::KeyTable;
use crate::service;
use crate::workers::Workers;

/// The configured service.
#[derive(Debug)]
pub struct Poll {
    /// `None`: the document has no `health`.
    pub(crate) workers: Option<Workers>,
    /// `None`: the document has no `auth.key_store`.
    pub(crate) keys: Option<KeyTable>,
    /// Of the issuers whose keys are read at run time.
    pub(crate) issuers: Vec<IssuerKeys>,
    /// This copy's name in the lease; drawn at the first tick.
    pub(crate) me: Option<u64>,
}

impl Service for Poll {
    fn configure(configuration: &[u8], environment: &dyn Environment) -> Result<Self, String> {
        let gateway = dragoman_config::parse(configuration).map_err(|error| error.to_string())?;
        Self::new(gateway, environment)
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
        self.answered(cx, token, response)
    }
}

impl Poll {
    fn new(gateway: Gateway, environment: &dyn Environment) -> Result<Self, String> {
        let issuers = gateway.auth.polled_issuers();
        let issuers: Vec<IssuerKeys> = issuers
            .map(|(issuer, from)| IssuerKeys::new(issuer, from))
            .collect();
        let store = gateway.auth.key_store;
        let store = store.filter(|_| gateway.auth.mode == AuthMode::On);
        if gateway.health.is_none() && store.is_none() && issuers.is_empty() {
            let reason = "health: missing, and auth.key_store and auth.issuers[].jwks_from too: poll has nothing to do without any";
            return Err(reason.to_owned());
        }
        let keys = store.map(|store| KeyTable::new(store, environment));
        let workers = gateway.workers;
        Ok(Self {
            workers: gateway.health.map(|health| Workers::new(health, workers)),
            keys: keys.transpose()?,
            issuers,
            me: None,
        })
    }
}
