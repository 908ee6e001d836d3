//! What `select` keeps of the document.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use dragoman_circuit::Rule;
use dragoman_config::Gateway;
use dragoman_sdk::{Environment, Plugin};

use crate::filter::Selecting;
use crate::view::View;

/// A check that is older than this many intervals says nothing: `poll` missed some.
const STALE_INTERVALS: u32 = 3;

/// Where a worker is, and how much it may get.
#[derive(Debug)]
pub(crate) struct Place {
    pub cluster: String,
    /// As Envoy prints it.
    pub address: String,
    /// Most requests at a time, over all threads.
    pub max_in_flight: Option<u32>,
}

/// The configured filter.
#[derive(Debug)]
pub struct Select {
    /// Worker id → place.
    pub(crate) places: BTreeMap<String, Place>,
    /// How long a check of `poll` counts; `None`: nobody checks.
    pub(crate) health_age: Option<Duration>,
    /// When a circuit opens; `None`: none does.
    pub(crate) circuit: Option<Rule>,
    /// What this thread knows of the workers.
    pub(crate) view: View,
}

impl Plugin for Select {
    type Filter = Selecting;

    fn configure(configuration: &[u8], _: &dyn Environment) -> Result<Self, String> {
        let gateway = dragoman_config::parse(configuration).map_err(|error| error.to_string())?;
        let health_age = gateway.health.as_ref().map(|health| {
            let interval = Duration::from_secs(u64::from(health.check_seconds));
            interval * STALE_INTERVALS + Duration::from_millis(u64::from(health.timeout_ms))
        });
        Ok(Self {
            health_age,
            circuit: gateway.circuit,
            places: places(gateway),
            view: View::default(),
        })
    }

    fn filter(self: &Rc<Self>) -> Selecting {
        Selecting::new(Rc::clone(self))
    }
}

fn places(gateway: Gateway) -> BTreeMap<String, Place> {
    let place = |worker: dragoman_config::Worker| {
        let place = Place {
            cluster: worker.cluster,
            address: worker.address.to_string(),
            max_in_flight: worker.max_in_flight,
        };
        (worker.id, place)
    };
    gateway.workers.into_iter().map(place).collect()
}
