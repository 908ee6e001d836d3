//! What `select` keeps of the document.

use std::collections::BTreeMap;
use std::rc::Rc;

use dragoman_config::Gateway;
use dragoman_sdk::{Environment, Plugin};

use crate::filter::Selecting;

/// Where a worker is.
#[derive(Debug)]
pub(crate) struct Place {
    pub cluster: String,
    /// As Envoy prints it.
    pub address: String,
}

/// The configured filter: worker id → place.
#[derive(Debug)]
pub struct Select {
    pub(crate) places: BTreeMap<String, Place>,
}

impl Plugin for Select {
    type Filter = Selecting;

    fn configure(configuration: &[u8], _: &dyn Environment) -> Result<Self, String> {
        let gateway = dragoman_config::parse(configuration).map_err(|error| error.to_string())?;
        Ok(Self {
            places: places(gateway),
        })
    }

    fn filter(self: &Rc<Self>) -> Selecting {
        Selecting::new(Rc::clone(self))
    }
}

fn places(gateway: Gateway) -> BTreeMap<String, Place> {
    gateway
        .workers
        .into_iter()
        .map(|worker| {
            (
                worker.id,
                Place {
                    cluster: worker.cluster,
                    address: worker.address.to_string(),
                },
            )
        })
        .collect()
}
