//! `envoy.config.core.v3.{Metadata, Node}` and the values of a `google.protobuf.Struct`.

use std::collections::BTreeMap;

use host_sim_host::config::{Locality, Node, Plain};

use crate::at::{At, Fields, Read};
use crate::plain::{boolean, other_meaning};
use crate::tree::Value;

/// Larger numbers have neighbours that a `double` cannot tell from them; Envoy makes strings of them.
const LARGEST_EXACT: u64 = 1 << 53;

/// What this Envoy is called.
pub fn node(fields: &mut Fields<'_>) -> Read<Node> {
    let mut text = |key: &str| -> Read<String> {
        Ok(fields.maybe(key, |at| at.string())?.unwrap_or_default())
    };
    let (id, cluster) = (text("id")?, text("cluster")?);
    Ok(Node {
        id,
        cluster,
        metadata: fields
            .maybe("metadata", |at| plain_map(&at))?
            .unwrap_or_default(),
        locality: fields.maybe("locality", |at| at.map(locality))?,
    })
}

fn locality(fields: &mut Fields<'_>) -> Read<Locality> {
    let mut text = |key: &str| -> Read<String> {
        Ok(fields.maybe(key, |at| at.string())?.unwrap_or_default())
    };
    Ok(Locality {
        region: text("region")?,
        zone: text("zone")?,
        sub_zone: text("sub_zone")?,
    })
}

/// `filter_metadata`: namespaces of values.
pub fn metadata(at: &At<'_>) -> Read<BTreeMap<String, BTreeMap<String, Plain>>> {
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
