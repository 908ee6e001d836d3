//! What concerns all endpoints.

use dragoman_contract::names::BACKEND_HEADER;
use dragoman_selection::{Policy, Strategy};

use crate::error::ConfigError;
use crate::form::header_name;
use crate::raw::Raw;
use crate::read::{object, whole};
use crate::strategy;

/// Part of a worker's cap that background work may fill where the document says nothing: enough to use
/// an idle worker well, and a quarter is always left for those who wait.
const DEFAULT_BACKGROUND_PERCENT: u32 = 75;

/// What concerns all endpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Routing {
    /// Response header that names the worker, lower case; none if clients are not to see it.
    pub backend_header: Option<String>,
    /// Order of the targets of endpoints that name none and have no weights.
    pub strategy: Strategy,
    /// How callers are divided among versions and classes.
    pub policy: Policy,
}

impl Routing {
    /// What a document without the section means.
    pub(crate) fn usual() -> Self {
        Self {
            backend_header: Some(BACKEND_HEADER.to_owned()),
            strategy: Strategy::Failover,
            policy: Policy {
                canary_percent: 0,
                background_percent: DEFAULT_BACKGROUND_PERCENT,
            },
        }
    }
}

/// The section.
pub(crate) fn routing(raw: &Raw) -> Result<Routing, ConfigError> {
    const FIELDS: &[&str] = &[
        "backend_header",
        "strategy",
        "canary_percent",
        "background_percent",
    ];
    object(raw, FIELDS, |fields| {
        let usual = Routing::usual();
        let backend_header = fields.optional("backend_header", |raw| match raw {
            Raw::Null => Ok(None),
            _ => header_name(raw).map(Some),
        })?;
        let strategy = fields.optional("strategy", strategy::word)?;
        let canary_percent = fields.optional("canary_percent", |raw| whole(raw, 0, 100))?;
        let background_percent = fields.optional("background_percent", |raw| whole(raw, 1, 100))?;
        Ok(Routing {
            backend_header: backend_header.unwrap_or(usual.backend_header),
            strategy: strategy.unwrap_or(usual.strategy),
            policy: Policy {
                canary_percent: canary_percent.unwrap_or(usual.policy.canary_percent),
                background_percent: background_percent.unwrap_or(usual.policy.background_percent),
            },
        })
    })
}
