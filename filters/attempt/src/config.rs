//! What `attempt` keeps of the document. The only filter that holds worker credentials.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use dragoman_circuit::Rule;
use dragoman_config::Gateway;
use dragoman_contract::load::BEAT;
use dragoman_contract::names::CLIENT_CREDENTIALS;
use dragoman_sdk::host::Clock;
use dragoman_sdk::{Environment, HostResult, Plugin, Root};

use crate::filter::Attempting;
use crate::latency::Stopwatch;
use crate::load::Load;

/// A header to present to a worker.
pub(crate) struct Credential {
    pub header: String,
    pub value: Vec<u8>,
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential")
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

/// The configured filter.
#[derive(Debug)]
pub struct Attempt {
    /// Worker id → what to present.
    pub(crate) credentials: BTreeMap<String, Credential>,
    /// Every header that may hold a client's credential or another worker's: request headers are
    /// shared by the attempts of a request.
    pub(crate) credential_headers: Vec<String>,
    /// Response header that names the worker.
    pub(crate) backend_header: Option<String>,
    /// (cluster, address) → id of the worker there, for callouts.
    pub(crate) places: BTreeMap<(String, String), String>,
    /// When a worker's circuit opens; `None`: never.
    pub(crate) circuit: Option<Rule>,
    /// What this VM has in flight.
    pub(crate) load: Load,
    /// How fast the workers answer; `None`: nobody asks.
    pub(crate) stopwatch: Option<Stopwatch>,
}

impl Plugin for Attempt {
    type Filter = Attempting;

    fn configure(configuration: &[u8], environment: &dyn Environment) -> Result<Self, String> {
        let gateway = dragoman_config::parse(configuration).map_err(|error| error.to_string())?;
        let credentials = credentials(&gateway, environment)?;
        let mut credential_headers: Vec<String> = CLIENT_CREDENTIALS
            .iter()
            .map(|name| (*name).to_owned())
            .collect();
        for credential in credentials.values() {
            if !credential_headers.contains(&credential.header) {
                credential_headers.push(credential.header.clone());
            }
        }
        let stopwatch = asks_for_latency(&gateway).then(Stopwatch::default);
        let places = gateway.workers.into_iter().map(|worker| {
            let place = (worker.cluster, worker.address.to_string());
            (place, worker.id)
        });
        let places = places.collect();
        let backend_header = gateway.routing.backend_header;
        Ok(Self {
            credentials,
            credential_headers,
            backend_header,
            places,
            circuit: gateway.circuit,
            load: Load::default(),
            stopwatch,
        })
    }

    fn filter(self: &Rc<Self>) -> Attempting {
        Attempting::new(Rc::clone(self))
    }

    fn period(&self) -> Duration {
        BEAT
    }

    fn on_tick(&self, cx: &mut Root<'_>) -> HostResult<()> {
        self.load.beat(cx)?;
        match &self.stopwatch {
            Some(stopwatch) => {
                let now = cx.monotonic();
                stopwatch.tell(cx, now, self.load.seat())
            }
            None => Ok(()),
        }
    }
}

/// Whether `select` goes by how fast workers are: a strategy does, or a cap's `Retry-After`.
fn asks_for_latency(gateway: &Gateway) -> bool {
    let by_strategy = |endpoint: &dragoman_config::Endpoint| endpoint.strategy.measures();
    let by_cap = |worker: &dragoman_config::Worker| worker.max_in_flight.is_some();
    gateway.endpoints.iter().any(by_strategy) || gateway.workers.iter().any(by_cap)
}

/// What each worker is to be shown, by its id.
fn credentials(
    gateway: &Gateway,
    environment: &dyn Environment,
) -> Result<BTreeMap<String, Credential>, String> {
    let mut credentials = BTreeMap::new();
    for (index, worker) in gateway.workers.iter().enumerate() {
        let Some(credential) = &worker.credential else {
            continue;
        };
        let path = format!("workers[{index}].credential");
        let (header, value) = credential.header_line(&path, |name| environment.variable(name))?;
        let value = value.into_bytes();
        credentials.insert(worker.id.clone(), Credential { header, value });
    }
    Ok(credentials)
}
