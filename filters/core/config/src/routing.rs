//! What concerns all endpoints.

use dragoman_contract::names::BACKEND_HEADER;

use crate::error::ConfigError;
use crate::form::header_name;
use crate::raw::Raw;
use crate::read::object;

/// What concerns all endpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Routing {
    /// Response header that names the worker, lower case; none if clients are not to see it.
    pub backend_header: Option<String>,
}

impl Routing {
    /// What a document without the section means.
    pub(crate) fn usual() -> Self {
        Self {
            backend_header: Some(BACKEND_HEADER.to_owned()),
        }
    }
}

/// The section.
pub(crate) fn routing(raw: &Raw) -> Result<Routing, ConfigError> {
    object(raw, &["backend_header"], |fields| {
        let backend_header = fields.optional("backend_header", |raw| match raw {
            Raw::Null => Ok(None),
            _ => header_name(raw).map(Some),
        })?;
        Ok(backend_header.map_or_else(Routing::usual, |backend_header| Routing { backend_header }))
    })
}
