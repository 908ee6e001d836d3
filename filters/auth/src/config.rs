//! What `auth` keeps of the document.

use std::rc::Rc;

use dragoman_config::{AuthMode, Gateway};
use dragoman_sdk::{Environment, Plugin};

use crate::filter::Authenticating;
use crate::polled::Polled;
use crate::tokens::Tokens;
use crate::uploads::Uploads;

/// The configured filter.
#[derive(Debug)]
pub struct Auth {
    pub(crate) gateway: Gateway,
    /// Whether it matters by which listener a request comes in.
    pub(crate) tells_listeners_apart: bool,
    /// Keys that are read at run time.
    pub(crate) polled: Polled,
    pub(crate) tokens: Tokens,
    /// Of this thread alone.
    pub(crate) uploads: Rc<Uploads>,
}

impl Plugin for Auth {
    type Filter = Authenticating;

    fn configure(configuration: &[u8], environment: &dyn Environment) -> Result<Self, String> {
        let gateway = dragoman_config::parse(configuration).map_err(|error| error.to_string())?;
        let tokens = Tokens::new(&gateway, environment)?;
        let uploads = Uploads::new(gateway.auth.max_uploads);
        Ok(Self {
            tells_listeners_apart: gateway.tells_listeners_apart(),
            polled: Polled::new(&gateway.auth),
            gateway,
            tokens,
            uploads: Rc::new(uploads),
        })
    }

    fn filter(self: &Rc<Self>) -> Authenticating {
        Authenticating::new(Rc::clone(self))
    }
}

impl Auth {
    pub(crate) fn is_on(&self) -> bool {
        self.gateway.auth.mode == AuthMode::On
    }
}
