//! What `alias` keeps of the document.

use std::rc::Rc;

use dragoman_config::{AuthMode, Endpoint, Gateway};
use dragoman_sdk::{Environment, Plugin, Reply};

use crate::access::{Access, Viewer, access};
use crate::filter::Resolving;
use crate::{models, refusal};

/// The configured filter.
#[derive(Debug)]
pub struct Alias {
    pub(crate) gateway: Gateway,
    /// Whether it matters by which listener somebody comes in of whom `auth` says nothing.
    pub(crate) tells_listeners_apart: bool,
    /// Each endpoint as the model list shows it, in the order of the document.
    models: Vec<String>,
}

impl Plugin for Alias {
    type Filter = Resolving;

    fn configure(configuration: &[u8], _: &dyn Environment) -> Result<Self, String> {
        let gateway = dragoman_config::parse(configuration).map_err(|error| error.to_string())?;
        let models = gateway
            .endpoints
            .iter()
            .map(|endpoint| models::model(&endpoint.slug))
            .collect();
        Ok(Self {
            tells_listeners_apart: gateway.tells_listeners_apart(),
            gateway,
            models,
        })
    }

    fn filter(self: &Rc<Self>) -> Resolving {
        Resolving::new(Rc::clone(self))
    }
}

impl Alias {
    /// Whether a request has to come with an identity.
    pub(crate) fn needs_identity(&self) -> bool {
        self.gateway.auth.mode == AuthMode::On
    }

    /// Whether somebody needs the digest of a body with an idempotency key.
    pub(crate) fn digests_bodies(&self) -> bool {
        self.gateway.idempotency.is_some()
    }

    /// The endpoint of this name, if the caller may use it, else the answer. One that the caller
    /// may not know of is answered like one that does not exist.
    pub(crate) fn endpoint(&self, slug: &str, viewer: &Viewer<'_>) -> Result<&Endpoint, Reply> {
        let endpoint = self
            .gateway
            .endpoint(slug)
            .ok_or_else(refusal::unknown_model)?;
        match access(&self.gateway, viewer, endpoint) {
            Access::Granted => Ok(endpoint),
            Access::Denied => Err(refusal::model_not_allowed()),
            Access::Hidden => Err(refusal::unknown_model()),
        }
    }

    /// Body of `GET /v1/models`: exactly what the caller may use.
    pub(crate) fn model_list(&self, viewer: &Viewer<'_>) -> Vec<u8> {
        let endpoints = self.gateway.endpoints.iter().zip(&self.models);
        let reachable = endpoints
            .filter(|(endpoint, _)| access(&self.gateway, viewer, endpoint) == Access::Granted)
            .map(|(_, model)| model.as_str());
        models::list(reachable)
    }
}
