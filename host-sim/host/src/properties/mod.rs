//! Attributes that guests can read, and the properties they set for one another.

mod metadata;
mod places;
mod stream;
mod value;

use crate::abi::{Answer, Refusal, Status};
use crate::host_calls::Guest;
use crate::stream::{Stream, StreamKey};
use value::Value;

/// Attributes whose values are asked for one by one: as a whole they are maps that cannot be listed.
const MAPS: [&str; 7] = [
    "request",
    "response",
    "source",
    "destination",
    "connection",
    "upstream",
    "filter_state",
];

/// Top-level names of attributes: a guest's own property of such a name cannot be read back.
const ATTRIBUTES: [&str; 4] = ["upstream_filter_state", "xds", "metadata", "node"];

impl Guest<'_> {
    /// Reads an attribute or a property; segments of the path are parted by NUL.
    pub(crate) fn property(&mut self, path: &[u8]) -> Answer<Vec<u8>> {
        let absent = || Refusal::Tell(Status::NotFound);
        if path.is_empty() {
            return Err(Status::SerializationFailure.into());
        }
        let text = String::from_utf8(path.to_vec()).map_err(|_| absent())?;
        let text = text.strip_suffix('\0').unwrap_or(&text);
        let mut segments = text.split('\0');
        let first = segments.next().ok_or_else(absent)?;
        let mut value = match first {
            "plugin_name" | "plugin_root_id" | "plugin_vm_id" => self.plugin_attribute(first),
            "connection_id" => self.connection("id"),
            name if MAPS.contains(&name) => match segments.next() {
                Some(field) => self.field(name, field)?,
                None => self.stream().map(|_| Value::Opaque),
            },
            name if ATTRIBUTES.contains(&name) => self.attribute(name, segments.next()),
            name => self.filter_state(&format!("wasm.{name}")).map(Value::Bytes),
        };
        for segment in segments {
            value = value.and_then(|value| value.below(segment));
        }
        value.ok_or_else(absent)?.serialised()
    }

    /// One value of a map that cannot be listed.
    fn field(&mut self, map: &str, field: &str) -> Answer<Option<Value>> {
        Ok(match map {
            "request" => self.request(field),
            "response" => self.response(field),
            "source" | "destination" => self.address(map, field)?,
            "connection" => self.connection(field),
            "upstream" => self.upstream(field),
            _ => self.filter_state(field).map(Value::Bytes),
        })
    }

    /// What is there also without a field, or without a stream.
    fn attribute(&mut self, name: &str, field: Option<&str>) -> Option<Value> {
        let whole = match name {
            "xds" => match field {
                Some(field) => return self.xds(field),
                None => Value::Opaque,
            },
            // Nothing here writes dynamic metadata: the message is there and empty.
            "metadata" => {
                self.stream()?;
                metadata::message(&std::collections::BTreeMap::new())
            }
            // Nothing of Envoy's own writes into it.
            "upstream_filter_state" => {
                self.stream()?.info.pool_ready?;
                match field {
                    Some(_) => return None,
                    None => Value::Opaque,
                }
            }
            _ => return None,
        };
        match field {
            Some(field) => whole.below(field),
            None => Some(whole),
        }
    }

    fn stream_key(&self) -> Option<StreamKey> {
        self.place().and_then(|(key, _)| self.engine.stream_of(key))
    }

    fn stream(&self) -> Option<&Stream> {
        self.engine.streams.get(&self.stream_key()?)
    }

    fn filter_state(&self, key: &str) -> Option<Vec<u8>> {
        self.stream()?.info.filter_state.attribute(key.as_bytes())
    }

    fn plugin_attribute(&mut self, name: &str) -> Option<Value> {
        let plugin = self.plugin()?;
        let config = &self.engine.plugins[plugin].config;
        let text = match name {
            "plugin_name" => &config.name,
            "plugin_root_id" => &config.root_id,
            _ => &config.vm.vm_id,
        };
        Some(text.as_str().into())
    }
}
