//! `envoy.config.listener.v3.Listener`

use host_sim_host::config::Listener;

use super::connection_manager;
use super::metadata::metadata;
use crate::at::{At, Read};

/// Envoy's default of `per_connection_buffer_limit_bytes`.
const BUFFER_LIMIT_BYTES: u32 = 1024 * 1024;

/// A listener with one filter chain that has one connection manager.
pub fn listener(at: &At<'_>) -> Read<Listener> {
    at.map(|fields| {
        let name = fields.maybe("name", |at| at.string())?.unwrap_or_default();
        let address = fields.required("address")?.address()?;
        let metadata = fields
            .maybe("metadata", |at| metadata(&at))?
            .unwrap_or_default();
        let limit = fields.maybe("per_connection_buffer_limit_bytes", |at| at.number32())?;
        let chain = fields.required("filter_chains")?.only()?;
        let http = chain.map(|chain| {
            chain.required("filters")?.only()?.map(|filter| {
                filter.required("name")?.name()?;
                connection_manager::connection_manager(&filter.required("typed_config")?)
            })
        })?;
        let buffer_limit_bytes = u64::from(limit.unwrap_or(BUFFER_LIMIT_BYTES));
        Ok(Listener {
            name,
            address,
            metadata,
            buffer_limit_bytes,
            http,
        })
    })
}
