//! What `select` keeps of the document.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use dragoman_circuit::Rule;
use dragoman_config::Gateway;
use dragoman_contract::load::worker_hash;
use dragoman_sdk::{Environment, Plugin};
use dragoman_selection::{Classes, Policy, Strategy};

use crate::candidates::Snapshot;
use crate::filter::Selecting;
use crate::load::Load;
use crate::speed::Speed;
use crate::view::View;

/// A check that is older than this many intervals says nothing: `poll` missed some.
const STALE_INTERVALS: u32 = 3;

/// What is configured of a worker.
#[derive(Debug)]
pub(crate) struct Worker {
    pub id: String,
    /// [`worker_hash`] of the id.
    pub hash: u64,
    pub cluster: String,
    /// As Envoy prints it.
    pub address: String,
    /// Most requests at a time, over all threads.
    pub cap: Option<u32>,
    pub classes: Classes,
    pub canary: bool,
    /// Ids of the only tenants that may use it.
    pub tenants: Option<Vec<String>>,
    pub region: Option<String>,
}

/// A target of an endpoint.
#[derive(Debug)]
pub(crate) struct Target {
    /// Index into [`Select::workers`].
    pub worker: usize,
    pub served_model_name: String,
    pub weight: u32,
    pub context_tokens: Option<u32>,
    pub tools: bool,
}

/// What is configured of an endpoint.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub strategy: Strategy,
    pub max_attempts: u8,
    pub timeout_ms: u32,
    /// Enabled ones, in the order of the document.
    pub targets: Vec<Target>,
    /// What was known of the targets when it was last looked at.
    pub snapshot: RefCell<Snapshot>,
    /// The next turn of this thread, for [`Turns::OfOneThread`](dragoman_selection::Turns). The first is
    /// drawn at random, or every new thread would begin with the same worker.
    pub turn: Cell<Option<u32>>,
}

/// The configured filter.
#[derive(Debug)]
pub struct Select {
    pub(crate) workers: Vec<Worker>,
    /// Name → endpoint.
    pub(crate) endpoints: BTreeMap<String, Endpoint>,
    /// Tenant → the regions its requests must stay in; tenants that may go anywhere are not there.
    pub(crate) residency: BTreeMap<String, Vec<String>>,
    /// Some workers are for some tenants only.
    pub(crate) restricted: bool,
    pub(crate) policy: Policy,
    /// How long a check of `poll` counts; `None`: nobody checks.
    pub(crate) health_age: Option<Duration>,
    /// When a circuit opens; `None`: none does.
    pub(crate) circuit: Option<Rule>,
    /// What this thread knows of the workers.
    pub(crate) view: View,
    /// What is in flight at them.
    pub(crate) load: Load,
    /// How fast they answered lately.
    pub(crate) speed: Speed,
}

impl Plugin for Select {
    type Filter = Selecting;

    fn configure(configuration: &[u8], _: &dyn Environment) -> Result<Self, String> {
        let gateway = dragoman_config::parse(configuration).map_err(|error| error.to_string())?;
        let health_age = gateway.health.as_ref().map(|health| {
            let interval = Duration::from_secs(u64::from(health.check_seconds));
            interval * STALE_INTERVALS + Duration::from_millis(u64::from(health.timeout_ms))
        });
        let workers = workers(&gateway);
        Ok(Self {
            health_age,
            circuit: gateway.circuit,
            policy: gateway.routing.policy,
            restricted: restricted(&gateway),
            residency: residency(&gateway),
            view: View::new(workers.len()),
            load: Load::new(workers.iter().map(|worker| worker.hash)),
            speed: Speed::default(),
            endpoints: endpoints(gateway),
            workers,
        })
    }

    fn filter(self: &Rc<Self>) -> Selecting {
        Selecting::new(Rc::clone(self))
    }
}

fn workers(gateway: &Gateway) -> Vec<Worker> {
    let tenant = |index: &usize| Some(gateway.tenant(*index)?.id.clone());
    let worker = |worker: &dragoman_config::Worker| Worker {
        id: worker.id.clone(),
        hash: worker_hash(&worker.id),
        cluster: worker.cluster.clone(),
        address: worker.address.to_string(),
        cap: worker.max_in_flight,
        classes: worker
            .classes
            .iter()
            .fold(Classes::NONE, |classes, class| classes.with(*class)),
        canary: worker.canary,
        tenants: worker
            .tenants
            .as_ref()
            .map(|tenants| tenants.iter().filter_map(tenant).collect()),
        region: worker.region.clone(),
    };
    gateway.workers.iter().map(worker).collect()
}

fn restricted(gateway: &Gateway) -> bool {
    let reserved = gateway
        .workers
        .iter()
        .any(|worker| worker.tenants.is_some());
    let bound = gateway
        .tenants
        .iter()
        .any(|tenant| tenant.residency.is_some());
    reserved || bound
}

fn residency(gateway: &Gateway) -> BTreeMap<String, Vec<String>> {
    let tenants = gateway.tenants.iter();
    tenants
        .filter_map(|tenant| Some((tenant.id.clone(), tenant.residency.clone()?)))
        .collect()
}

fn endpoints(gateway: Gateway) -> BTreeMap<String, Endpoint> {
    let target = |target: dragoman_config::Target| Target {
        worker: target.worker,
        served_model_name: target.served_model_name,
        weight: target.weight,
        context_tokens: target.context_tokens,
        tools: target.tools,
    };
    let endpoint = |endpoint: dragoman_config::Endpoint| {
        let targets = endpoint.targets.into_iter();
        let targets: Vec<Target> = targets
            .filter(|target| target.enabled)
            .map(target)
            .collect();
        let prepared = Endpoint {
            strategy: endpoint.strategy,
            max_attempts: endpoint.max_attempts,
            timeout_ms: endpoint.timeout_ms,
            targets,
            snapshot: RefCell::default(),
            turn: Cell::new(None),
        };
        (endpoint.name, prepared)
    };
    gateway.endpoints.into_iter().map(endpoint).collect()
}
