//! What `alias` keeps of the document.

use std::rc::Rc;

use dragoman_config::{AuthMode, Endpoint, Gateway};
use dragoman_sdk::{Environment, Plugin};

use crate::filter::Resolving;
use crate::models;

/// The configured filter.
#[derive(Debug)]
pub struct Alias {
    pub(crate) gateway: Gateway,
    /// Body of `GET /v1/models`, the same for every caller.
    pub(crate) model_list: Vec<u8>,
}

impl Plugin for Alias {
    type Filter = Resolving;

    fn configure(configuration: &[u8], _: &dyn Environment) -> Result<Self, String> {
        let gateway = dragoman_config::parse(configuration).map_err(|error| error.to_string())?;
        let model_list = models::list(&gateway.endpoints);
        Ok(Self {
            gateway,
            model_list,
        })
    }

    fn filter(self: &Rc<Self>) -> Resolving {
        Resolving::new(Rc::clone(self))
    }
}

impl Alias {
    pub(crate) fn endpoint(&self, slug: &str) -> Option<&Endpoint> {
        self.gateway.endpoint(slug)
    }

    /// Whether a request has to come with an identity.
    pub(crate) fn needs_identity(&self) -> bool {
        self.gateway.auth.mode == AuthMode::On
    }
}
