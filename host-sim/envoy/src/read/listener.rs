//! `envoy.config.listener.v3.Listener`

use std::collections::BTreeMap;

use host_sim_host::config::{Listener, Plain};

use super::connection_manager;
use crate::at::{At, Read};
use crate::plain::{boolean, other_meaning};
use crate::tree::Value;

/// Envoy's default of `per_connection_buffer_limit_bytes`.
const BUFFER_LIMIT_BYTES: u32 = 1024 * 1024;

/// Larger numbers have neighbours that a `double` cannot tell from them; Envoy makes strings of them.
const LARGEST_EXACT: u64 = 1 << 53;

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

/// `filter_metadata`: namespaces of values.
fn metadata(at: &At<'_>) -> Read<BTreeMap<String, BTreeMap<String, Plain>>> {
    at.map(|fields| {
        let namespaces = fields.required("filter_metadata")?.entries()?;
        namespaces
            .into_iter()
            .map(|(name, at)| Ok((name.to_owned(), plain_map(&at)?)))
            .collect()
    })
}

fn plain_map(at: &At<'_>) -> Read<BTreeMap<String, Plain>> {
    at.entries()?
        .into_iter()
        .map(|(key, at)| Ok((key.to_owned(), plain(&at)?)))
        .collect()
}

/// A value of a `google.protobuf.Struct`. A fraction is a string, as in Envoy.
fn plain(at: &At<'_>) -> Read<Plain> {
    let text = match at.value() {
        Value::Map(_) => return Ok(Plain::Map(plain_map(at)?)),
        Value::List(_) => return Ok(Plain::List(at.each(|item| plain(&item))?)),
        Value::Quoted(text) => return Ok(Plain::Text(text.clone())),
        Value::Plain(text) => text,
    };
    if let Some(value) = boolean(text) {
        return Ok(Plain::Bool(value));
    }
    Ok(match other_meaning(text) {
        None => Plain::Text(text.clone()),
        Some("null") => Plain::Null,
        Some(_) => {
            let number = text.parse::<i64>().ok();
            let exact = number.filter(|number| number.unsigned_abs() <= LARGEST_EXACT);
            let written = exact.filter(|number| number.to_string() == *text);
            let number = written.ok_or_else(|| at.not_modelled(text))?;
            Plain::Number(number as f64)
        }
    })
}
